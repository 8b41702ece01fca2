"""A file opened for a command, and what JSON says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from burnpy.cli.text import json_float

if TYPE_CHECKING:
    from burnpy._shards import ShardedReader
    from burnpy._typing import Backend, Place
    from burnpy.cli.foreign import ForeignContainer, ForeignInfo, PlainValue
    from burnpy.pack import Reader, Scalar, TensorInfo

    Container: TypeAlias = Reader | ShardedReader | ForeignContainer
    Info: TypeAlias = TensorInfo | ForeignInfo

__all__ = ["Container", "Info", "opened", "opened_file", "scalar_json"]

if not TYPE_CHECKING:
    Container = Info = object


@contextmanager
def opened(
    path: Place, *, backend: Backend = "pread", top_level_key: str | None = None
) -> Iterator[Container]:
    """Open a file of any format, or all files of an index, for as long as the block runs.

    Of PyTorch's checkpoints, what is below the key alone; the other formats have nothing around a model.

    Burnpacks are read through the open file, not a map: a command should not die of a file that another process cuts.
    """
    with closing(_open(path, backend, top_level_key)) as container:
        yield container


def _open(path: Place, backend: Backend, top_level_key: str | None) -> Container:
    # Here, not at the top: `burnpy --help` need not load what reads files.
    from burnpy.errors import CheckpointError, Error, InvalidHeader, InvalidMagicNumber, ValidationError
    from burnpy.safe_open import open_reader

    no_burnpack: Error
    try:
        return open_reader(path, backend=backend)
    except (InvalidMagicNumber, InvalidHeader) as error:
        no_burnpack = error
    except ValidationError as error:
        if not str(path).endswith(".index.json"):
            raise
        no_burnpack = error
    from burnpy.cli.foreign import ForeignContainer
    from burnpy.store.checkpoint import PICKLED
    from burnpy.store.checkpoint import open as open_checkpoint

    try:
        checkpoint = open_checkpoint(path)
        if checkpoint.format.startswith("burnpack"):
            checkpoint.close()
            raise no_burnpack
        if top_level_key is not None and checkpoint.format.startswith(PICKLED):
            checkpoint.close()
            checkpoint = open_checkpoint(path, top_level_key=top_level_key)
        return ForeignContainer(checkpoint)
    except CheckpointError as error:
        # What is nothing at all is told as everywhere: what it looks like instead of a burnpack.
        if error.kind == "not a checkpoint":
            raise no_burnpack from None
        raise


@contextmanager
def opened_file(path: str) -> Iterator[Reader]:
    """Open a single file."""
    from burnpy.pack import Reader

    with Reader._find(path, backend="auto") as reader:
        yield reader


def scalar_json(scalar: Scalar | PlainValue) -> dict[str, Any]:
    """A scalar's kind and value; what JSON cannot say is a word."""
    value = scalar.value
    if isinstance(value, float):
        value = json_float(value)
    elif value is not None and not isinstance(value, bool | int | str):
        value = repr(value)
    return {"kind": scalar.kind, "value": value}
