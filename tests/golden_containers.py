"""The containers of the golden manifests in one form, whatever the folder they come from."""

import json
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from burnpy.pack import QuantScheme, Scalar
from tests.paths import GOLDEN

BURN = GOLDEN / "burn"

Json = dict[str, Any]


@dataclass(frozen=True)
class GoldenFile:
    """A container that Burn wrote, and what its manifest says of it."""

    path: Path
    told: Json

    @property
    def tensors(self) -> list[Json]:
        """In data order where the manifest tells offsets, else in name order."""
        tensors: list[Json] = self.told["tensors"]
        return tensors

    @property
    def has_offsets(self) -> bool:
        return all("data_offsets" in told for told in self.tensors)

    def __str__(self) -> str:
        return str(self.path.relative_to(BURN))


@cache
def manifest(path: Path) -> Json:
    content: Json = json.loads(path.read_text(encoding="utf-8"))
    return content


@cache
def golden_files() -> list[GoldenFile]:
    """Every `.bpk` of every manifest that comes with its tensors."""
    files = []
    for path in sorted(BURN.glob("*/manifest.json")):
        told = manifest(path)
        files += [GoldenFile(path.parent / name, entry) for name, entry in _entries(told.get("files"))]
        files += [GoldenFile(path.parent / entry["file"], entry) for entry in _running_records(told)]
    return [file for file in files if file.path.suffix == ".bpk" and "tensors" in file.told]


def _entries(files: Any) -> list[tuple[str, Json]]:
    """A list of entries with their names, or a mapping of names to entries."""
    if isinstance(files, dict):
        return list(files.items())
    return [(entry["file"], entry) for entry in files or [] if isinstance(entry, dict) and "file" in entry]


def _running_records(told: Json) -> list[Json]:
    """The two further records of a module with running state."""
    files = told["files"] if isinstance(told.get("files"), list) else []
    running = [entry["running"] for entry in files if isinstance(entry, dict) and "running" in entry]
    return [value for entry in running for value in entry.values() if _is_file(value)]


def _is_file(value: Any) -> bool:
    return isinstance(value, dict) and "tensors" in value and "file" in value


def dtype_text(told: Any) -> str:
    """burnpy's text form of a manifest's dtype."""
    if isinstance(told, dict):
        return "qfloat"
    kind, _, store = told.lower().rstrip(")").partition("(")
    return f"{kind}({store})" if store not in ("", "native") else kind


def scheme(told: Any) -> QuantScheme | None:
    """burnpy's quantization scheme of a manifest's dtype; ``None`` for any other dtype."""
    if not isinstance(told, dict):
        return None
    quantized, block = told["QFloat"], told["QFloat"]["block"]
    packed = quantized["store"] if isinstance(quantized["store"], dict) else {quantized["store"]: 0}
    ((store, packed_dim),) = packed.items()
    return QuantScheme(
        value=quantized["value"],
        store=store,
        packed_dim=packed_dim,
        mode=quantized["mode"],
        tensor=quantized["tensor"],
        block_size=None if block is None else tuple(block["size"]),
        block_dtype="F32" if block is None else block["dtype"],
    )


def scalar(told: Json) -> Scalar:
    """The scalar of a manifest, a float by its bits."""
    ((kind, value),) = ((key, value) for key, value in told.items() if key != "bits")
    if kind == "Float":
        return Scalar.float_(struct.unpack(">d", bytes.fromhex(told["bits"]))[0] if "bits" in told else value)
    return {"Int": Scalar.int_, "UInt": Scalar.uint, "Bool": Scalar.bool_}[kind](value)


def bits(scalar: Scalar) -> tuple[str, object]:
    """What tells two scalars apart; a NaN equals nothing, not even itself."""
    value = scalar.value
    return scalar.kind, struct.pack(">d", value) if isinstance(value, float) else value
