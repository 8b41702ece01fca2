"""The real Burn reads what burnpy wrote: the published burn-pack must find exactly what burnpy was given."""

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
import burnpy.numpy
from burnpy.pack import QuantScheme, Reader, Scalar, Tensor, Writer
from tests.interop.program import dump
from tests.paths import GOLDEN

pytestmark = pytest.mark.interop

Content = dict[str, Any]


def tensor(
    name: str, dtype: Any, shape: tuple[int, ...], data: bytes, param_id: int | None = None
) -> Content:
    """What burn-pack must say of a tensor."""
    sha256 = hashlib.sha256(data).hexdigest()
    byte_len = len(data)
    return {
        "name": name, "dtype": dtype, "shape": list(shape), "param_id": param_id,
        "byte_len": byte_len, "sha256": sha256,
    }  # fmt: skip


def content(
    tensors: list[Content], scalars: Content | None = None, metadata: Content | None = None
) -> Content:
    """What burn-pack must say of a file: it hands tensors out in the order of their names' bytes."""
    in_order = sorted(tensors, key=lambda tensor: tensor["name"].encode())
    return {"tensors": in_order, "scalars": scalars or {}, "metadata": metadata or {}}


def assert_burn_reads(path: Path, expected: Content) -> None:
    assert dump(path) == [expected]
    assert dump(path, from_bytes=True) == [expected]


def some_bytes(count: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).bytes(count)


# The program itself.


@pytest.mark.golden
def test_the_program_says_of_golden_files_what_their_manifest_says():
    folder = GOLDEN / "burn" / "containers"
    for case in json.loads((folder / "manifest.json").read_text())["files"]:
        (found,) = dump(folder / case["file"])

        tensors = {each["name"]: each for each in case["tensors"]}
        assert [each["name"] for each in found["tensors"]] == sorted(tensors, key=str.encode)
        for each in found["tensors"]:
            expected = tensors[each["name"]]
            assert manifest_dtype(each["dtype"]) == expected["dtype"]
            for field in ("shape", "param_id", "sha256"):
                assert each[field] == expected[field]
        assert found["metadata"] == case["metadata"]
        assert found["scalars"].keys() == case["scalars"].keys()


def manifest_dtype(dtype: Any) -> Any:
    """burn-pack's dtype in the manifests' words: block sizes without their padding, the store of bools as a call."""
    match dtype:
        case {"Bool": store}:
            return f"Bool({store})"
        case {"QFloat": {"block": {"size": size, "dtype": scale}} as scheme}:
            return {"QFloat": {**scheme, "block": {"size": size["storage"][: size["len"]], "dtype": scale}}}
    return dtype


@pytest.mark.golden
def test_the_program_tells_the_kind_of_an_error():
    (found,) = dump(GOLDEN / "burn" / "containers" / "reader" / "nine_bytes.bpk")

    assert found["error"]["kind"] == "IoError"


# Dtypes.

PLAIN = {
    "f64": ("F64", 8), "f32": ("F32", 4), "flex32": ("Flex32", 4), "f16": ("F16", 2), "bf16": ("BF16", 2),
    "i64": ("I64", 8), "i32": ("I32", 4), "i16": ("I16", 2), "i8": ("I8", 1),
    "u64": ("U64", 8), "u32": ("U32", 4), "u16": ("U16", 2), "u8": ("U8", 1),
    "bool": ({"Bool": "Native"}, 1), "bool(u8)": ({"Bool": "U8"}, 1), "bool(u32)": ({"Bool": "U32"}, 4),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 4), (2, 3, 1, 5)])
def test_burn_reads_every_plain_dtype(name, shape, tmp_path):
    dtype, size = PLAIN[name]
    data = bytes(value % 2 for value in range(int(np.prod(shape)) * size)) if "bool" in name else None
    data = some_bytes(int(np.prod(shape)) * size) if data is None else data

    Writer([Tensor("t", name, shape, 5, data=data)]).write_to_file(tmp_path / "file.bpk")

    assert_burn_reads(tmp_path / "file.bpk", content([tensor("t", dtype, shape, data, 5)]))


ARRAYS = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ARRAYS)
def test_burn_reads_arrays_of_any_memory_order_as_rows(dtype, tmp_path):
    base = np.arange(24).reshape(4, 6).astype(ARRAYS[dtype])
    arrays = {
        "rows": base,
        "columns": np.asfortranarray(base),
        "strided": base[::2, 1::3],
        "reversed": base[::-1, ::-1],
        "transposed": base.T,
        "broadcast": np.broadcast_to(base[0], (3, 6)),
        "no dimension": base[1, 1].reshape(()),
        "nothing": base[:0],
    }

    burnpy.numpy.save_file(arrays, tmp_path / "file.bpk")

    expected = [tensor(name, dtype, array.shape, array.tobytes()) for name, array in arrays.items()]
    assert_burn_reads(tmp_path / "file.bpk", content(expected))


def test_burn_reads_big_endian_arrays_and_bools(tmp_path):
    arrays = {"big": np.arange(5, dtype=">i4"), "flags": np.array([True, False, True])}

    burnpy.numpy.save_file(arrays, tmp_path / "file.bpk")

    expected = [
        tensor("big", "I32", (5,), np.arange(5, dtype="<i4").tobytes()),
        tensor("flags", {"Bool": "Native"}, (3,), b"\1\0\1"),
    ]
    assert_burn_reads(tmp_path / "file.bpk", content(expected))


# For each the scheme's fields, the store and the block as burn-pack says them, shape and payload length.
SCHEMES: dict[str, tuple[Content, Any, Any, tuple[int, ...], int]] = {
    "native, one scale": ({"value": "Q8S", "store": "Native"}, "Native", None, (2, 3), 6 + 4),
    "packed, one f16 scale": (
        {"value": "Q8F", "store": "PackedU32", "tensor": "F16"}, {"PackedU32": 0}, None, (2, 8), 16 + 2,
    ),
    "packed 4 bits, padded lines": ({"value": "Q4F", "store": "PackedU32"}, {"PackedU32": 0}, None, (3, 3), 12 + 4),
    "packed, outer dimension": (
        {"value": "Q2S", "store": "PackedU32", "packed_dim": 1}, {"PackedU32": 1}, None, (16, 3), 12 + 4,
    ),
    "two in a byte": ({"value": "E2M1", "store": "PackedNative"}, {"PackedNative": 0}, None, (4, 4), 8 + 4),
    "lookup": ({"value": "Q8S", "store": "Native", "mode": "Lookup"}, "Native", None, (4,), 4 + 4),
    "blocks": (
        {"value": "E4M3", "store": "Native", "block_size": (2, 4), "block_dtype": "BF16"},
        "Native", {"size": {"storage": [2, 4, 1, 1, 1], "len": 2}, "dtype": "BF16"}, (4, 8), 32 + 4 * 2,
    ),
    "blocks under a tensor scale": (
        {"value": "Q8S", "store": "Native", "tensor": "F32", "block_size": (4,), "block_dtype": "UE4M3"},
        "Native", {"size": {"storage": [4, 1, 1, 1, 1], "len": 1}, "dtype": "UE4M3"}, (8,), 8 + 2 + 4,
    ),
    "blocks of one value, which have no extents": (
        {"value": "Q8S", "store": "Native", "block_size": (1,), "block_dtype": "F16"},
        "Native", {"size": {"storage": [1, 1, 1, 1, 1], "len": 0}, "dtype": "F16"}, (2, 3), 6 + 6 * 2,
    ),
    "exponent scales": (
        {"value": "E5M2", "store": "Native", "block_size": (4,), "block_dtype": "UE8M0"},
        "Native", {"size": {"storage": [4, 1, 1, 1, 1], "len": 1}, "dtype": "UE8M0"}, (8,), 8 + 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SCHEMES)
def test_burn_reads_quantized_tensors(case, tmp_path):
    fields, store, block, shape, byte_len = SCHEMES[case]
    data = some_bytes(byte_len)

    quantized = Tensor("q", QuantScheme(**fields), shape, data=data)
    Writer([quantized]).write_to_file(tmp_path / "file.bpk")

    mode = fields.get("mode", "Symmetric")
    scheme = {
        "value": fields["value"],
        "store": store,
        "mode": mode,
        "tensor": fields.get("tensor"),
        "block": block,
    }
    assert_burn_reads(tmp_path / "file.bpk", content([tensor("q", {"QFloat": scheme}, shape, data)]))


# Names, ids, metadata, scalars.

ODD_NAMES = ["", "a/b", "\0", "日本", "n" * 10_000, "line\nbreak", "\u2028", 'quote"', "e\u0301", "é"]
NAMES = [*ODD_NAMES, "👩‍🔬", ".", "Z", "a"]


def test_burn_reads_any_name(tmp_path):
    arrays = {name: np.full(3, index, np.int16) for index, name in enumerate(NAMES)}

    burnpy.numpy.save_file(arrays, tmp_path / "file.bpk")

    expected = [tensor(name, "I16", (3,), array.tobytes()) for name, array in arrays.items()]
    assert_burn_reads(tmp_path / "file.bpk", content(expected))


def test_burn_reads_any_parameter_id(tmp_path):
    ids = {
        "none": None,
        "zero": 0,
        "one": 1,
        "byte": 255,
        "wide": 1 << 32,
        "half": (1 << 63) - 1,
        "all": (1 << 64) - 1,
    }
    data = np.zeros(1, np.uint8)
    given = {name: param_id for name, param_id in ids.items() if param_id is not None}

    burnpy.numpy.save_file(dict.fromkeys(ids, data), tmp_path / "file.bpk", param_ids=given)

    expected = [tensor(name, "U8", (1,), b"\0", param_id) for name, param_id in ids.items()]
    assert_burn_reads(tmp_path / "file.bpk", content(expected))


def test_burn_reads_any_metadata(tmp_path):
    metadata = {
        "": "empty key",
        "empty": "",
        "long": "x" * 70_000,
        "日本": "\0 👩‍🔬 \u2028",
        "json": '{"a": [1]}',
    }

    burnpy.numpy.save_file({"t": np.zeros(2, np.float32)}, tmp_path / "file.bpk", metadata)

    assert_burn_reads(tmp_path / "file.bpk", content([tensor("t", "F32", (2,), bytes(8))], metadata=metadata))


INTS = [
    0,
    -1,
    23,
    24,
    -24,
    -25,
    255,
    256,
    -257,
    65_535,
    65_536,
    (1 << 31) - 1,
    -(1 << 31),
    (1 << 63) - 1,
    -(1 << 63),
]
UINTS = [0, 23, 24, 255, 256, 65_535, 65_536, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1]
# As bits, since a NaN is not equal to itself.
FLOATS = [
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0x40EFFC0000000000, 0x40EFFC2000000000,
    0x40F0000000000000, 0x3E70000000000000, 0x3E60000000000000, 0x47EFFFFFE0000000, 0x36A0000000000000,
    0x3FB999999999999A, 0x3FB99999A0000000, 0x7FEFFFFFFFFFFFFF, 0x0000000000000001, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0x7FFFFFFFFFFFFFFF,
]  # fmt: skip


def float_of(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def test_burn_reads_every_scalar_bit_for_bit(tmp_path):
    scalars = {f"int {value}": (Scalar.int_(value), "Int", value % (1 << 64)) for value in INTS}
    scalars |= {f"uint {value}": (Scalar.uint(value), "UInt", value) for value in UINTS}
    scalars |= {f"float {bits:x}": (float_of(bits), "Float", bits) for bits in FLOATS}
    scalars |= {"true": (True, "Bool", 1), "false": (Scalar(False), "Bool", 0)}
    scalars |= {"": (7, "UInt", 7), "minus": (-7, "Int", 2**64 - 7)}

    given = {name: scalar for name, (scalar, _, _) in scalars.items()}
    burnpy.numpy.save_file({}, tmp_path / "file.bpk", scalars=given)

    expected = {name: {"kind": kind, "bits": f"{bits:016x}"} for name, (_, kind, bits) in scalars.items()}
    assert_burn_reads(tmp_path / "file.bpk", content([], scalars=expected))


# Whole files.


@pytest.mark.parametrize("how", ["write_to_file", "write_to_file_in_place", "into_bytes"])
def test_burn_reads_a_record_from_every_output_of_the_writer(how, tmp_path):
    path, data = tmp_path / "record.bpk", [some_bytes(40, seed) for seed in range(3)]
    tensors = [
        Tensor("fc.weight", "f32", (2, 5), 17070600484697698571, data=data[0]),
        Tensor.deferred("fc.bias", dtype="f32", shape=(10,), provider=lambda: data[1], param_id=3),
        Tensor("0.moment.time", "f32", (10,), data=data[2]),
    ]
    writer = Writer(tensors).with_metadata("format", "burnpack").with_scalar("0.step", Scalar.uint(300))

    if how == "into_bytes":
        path.write_bytes(writer.into_bytes())
    else:
        getattr(writer, how)(path)

    expected = [
        tensor("fc.weight", "F32", (2, 5), data[0], 17070600484697698571),
        tensor("fc.bias", "F32", (10,), data[1], 3),
        tensor("0.moment.time", "F32", (10,), data[2]),
    ]
    scalars = {"0.step": {"kind": "UInt", "bits": f"{300:016x}"}}
    assert_burn_reads(path, content(expected, scalars, {"format": "burnpack"}))


def test_burn_reads_ten_thousand_tensors(tmp_path):
    arrays = {f"layer.{index % 100}.{index}": np.full(16, index, np.float32) for index in range(10_000)}

    burnpy.numpy.save_file(arrays, tmp_path / "file.bpk")

    expected = [tensor(name, "F32", (16,), array.tobytes()) for name, array in arrays.items()]
    assert_burn_reads(tmp_path / "file.bpk", content(expected))


def test_burn_reads_each_file_of_a_sharded_set(tmp_path):
    arrays = {f"layer.{index}": np.full((64, 64), index, np.float32) for index in range(10)}

    burnpy.save_sharded(arrays, tmp_path, 3 * 64 * 64 * 4)

    shards = sorted(tmp_path.glob("*.bpk"))
    found = dump(*shards)
    assert len(shards) == 4
    assert [each["name"] for shard in found for each in shard["tensors"]] == list(arrays)
    for each in (each for shard in found for each in shard["tensors"]):
        array = arrays[each["name"]]
        assert each == tensor(each["name"], "F32", array.shape, array.tobytes())


@pytest.mark.golden
def test_burn_finds_the_same_in_every_golden_file_that_burnpy_wrote_again(tmp_path):
    files = [path for path in sorted((GOLDEN / "burn").rglob("*.bpk")) if path.parent.name != "reader"]
    copies = [tmp_path / f"{index}.bpk" for index in range(len(files))]

    for path, copy in zip(files, copies, strict=True):
        reader = Reader.from_file(path)
        Writer(reader.into_tensors(), reader.metadata(), reader.scalars()).write_to_file(copy)

    assert len(files) > 25
    for path, before, after in zip(files, dump(*files), dump(*copies), strict=True):
        assert after == before, path


# Checkpoints of PyTorch.


def a_checkpoint_of_torch(folder: Path) -> tuple[Path, dict[str, np.ndarray[Any, Any]]]:
    """An encoder layer and a head that shares its weight with the embedding, and the arrays that torch has of it."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Module()
    model.embed = torch.nn.Embedding(1500, 128)
    model.layer = torch.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model.head = torch.nn.Linear(128, 1500, bias=False)
    model.head.weight = model.embed.weight
    torch.save({"model": model.state_dict(), "epoch": 3}, folder / "model.pt")
    return folder / "model.pt", {name: value.numpy() for name, value in model.state_dict().items()}


def a_golden_checkpoint(folder: Path) -> tuple[Path, dict[str, np.ndarray[Any, Any]]]:
    """The same kind of layer, small; its values are compared with their hashes elsewhere."""
    path = GOLDEN / "pytorch" / "model_encoder_layer_zip.pt"
    with burnpy.open(path) as checkpoint:
        return path, {name: np.array(view) for name, view in checkpoint.items()}


@pytest.mark.golden
@pytest.mark.parametrize("checkpoint", [a_checkpoint_of_torch, a_golden_checkpoint])
def test_burn_reads_a_checkpoint_of_torch_in_its_own_conventions(checkpoint, tmp_path):
    path, arrays = checkpoint(tmp_path)

    report = burnpy.convert(path, tmp_path / "model.bpk", adapter="pytorch")

    expected = {}
    for name, array in arrays.items():
        owner, _, param = name.rpartition(".")
        if owner.rpartition(".")[2] in ("norm1", "norm2"):
            name = f"{owner}.{'gamma' if param == 'weight' else 'beta'}"
        elif param == "weight" and not name.startswith("embed"):
            array = array.T
        expected[name] = tensor(name, "F32", array.shape, array.tobytes())
    scalars = {"epoch": {"kind": "UInt", "bits": f"{3:016x}"}} if report.scalars else {}
    assert_burn_reads(tmp_path / "model.bpk", content(list(expected.values()), scalars))
    if "head.weight" in arrays:
        assert report.ties == [["embed.weight", "head.weight"]]
        assert report.top_level_key == "model"
