"""Burnpack files as dicts of torch tensors, and whole models, in the order of arguments that safetensors has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from burnpy import _core
from burnpy._places import save_pack
from burnpy.errors import DTypeError
from burnpy.safe_open import for_copy, open_reader

if TYPE_CHECKING:
    import torch
    from typing_extensions import Buffer

    from burnpy._typing import Backend, Place
    from burnpy.pack import Limits, Scalar

__all__ = ["load", "load_file", "load_model", "save", "save_file", "save_model"]


def save_file(
    tensors: Mapping[str, torch.Tensor | Any],
    filename: Place,
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> None:
    """Write tensors to a file, which appears whole or not at all.

    A contiguous tensor in main memory is written from where it lies. Others, on a device or strided, are brought there
    one by one, when their turn comes. Tensors that share memory are written once for each name.

    Args:
        tensors: names to torch tensors; ``burnpy.pack.Tensor`` (deferred ones too) and lazy views are fine as well.
        filename: used as it is; an old file keeps its mode, a symbolic link is followed.
        metadata: texts by key; their order does not matter.
        scalars: ``burnpy.pack.Scalar``, or Python values.
        param_ids: ids of parameters by tensor name.
        durable: wait until the disk has the file, so that it outlives a loss of power.
        limits: what may not be exceeded; by default what Burn's reader accepts.

    Raises:
        DTypeError: no dtype of a burnpack fits: sparse, quantized, complex, 8-bit floats.
        ValidationError, IoError: as ``burnpy.numpy.save_file``; the old file is as it was.

    Example:
        >>> import torch
        >>> save_file({"w": torch.ones(2, 3, dtype=torch.bfloat16).T}, "model.bpk", {"producer": "me"})
    """
    save_pack(
        _entries(tensors),
        filename,
        metadata,
        scalars=scalars,
        param_ids=param_ids,
        durable=durable,
        limits=limits,
    )


def save(
    tensors: Mapping[str, torch.Tensor | Any],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    limits: Limits | None = None,
) -> bytes:
    """The file that ``save_file`` would write, as bytes.

    Example:
        >>> import torch
        >>> save({"w": torch.zeros(2)})[:4]
        b'NRUB'
    """
    return _core.save(_entries(tensors), metadata, scalars=scalars, param_ids=param_ids, limits=limits)


@overload
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: Literal[False] = False,
) -> dict[str, torch.Tensor]: ...
@overload
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: Literal[True],
) -> tuple[dict[str, torch.Tensor], dict[str, str]]: ...
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: bool = False,
) -> dict[str, torch.Tensor] | tuple[dict[str, torch.Tensor], dict[str, str]]:
    """All tensors of a file, in data order.

    On the CPU they are windows of a private map: no byte is read before it is used, and a write copies the page that it
    touches, so that it never reaches the file. Dtypes are those of ``burnpy.numpy.load_file``.

    Args:
        filename: the file, or the index of a sharded model; if nothing is there, ``.bpk`` is appended.
        device: where the tensors go.
        backend: ``"pread"`` reads everything into memory instead of mapping the file, ``"auto"`` maps where possible.
        copy: read everything into memory at once.
        with_metadata: return ``(tensors, metadata)``.

    Raises:
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        Error: of ``burnpy.pack``: the file is no burnpack, or not a sound one.

    Example:
        >>> import torch
        >>> save_file({"w": torch.ones(3)}, "model.bpk")
        >>> load_file("model.bpk")
        {'w': tensor([1., 1., 1.])}
    """
    reader = open_reader(filename, backend=for_copy(backend) if copy else backend, private=True)
    tensors = _from_capsules(reader._capsules(copy=copy), device)
    return (tensors, reader.metadata()) if with_metadata else tensors


def load(data: Buffer) -> dict[str, torch.Tensor]:
    """All tensors of a file in memory, in data order. They are copies: torch could write to what is not its own.

    Example:
        >>> import torch
        >>> load(save({"w": torch.zeros(2)}))
        {'w': tensor([0., 0.])}
    """
    return _from_capsules(_core.Reader.from_bytes(data)._capsules(copy=True), "cpu")


def _from_capsules(capsules: dict[str, Any], device: str | int) -> dict[str, torch.Tensor]:
    from torch.utils.dlpack import from_dlpack

    return {name: _on_device(from_dlpack(capsule), device) for name, capsule in capsules.items()}


def _from_capsule(capsule: Any) -> torch.Tensor:
    from torch.utils.dlpack import from_dlpack

    tensor: torch.Tensor = from_dlpack(capsule)
    return tensor


def _on_device(tensor: torch.Tensor, device: str | int) -> torch.Tensor:
    return tensor if device == "cpu" else tensor.to(device)


def save_model(
    model: torch.nn.Module,
    filename: Place,
    metadata: Mapping[str, str] | None = None,
    force_contiguous: bool = True,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> None:
    """Write the state of a model; of parameters that are tied, the first in name order is kept.

    The metadata says which name stands for which: ``{dropped: kept}``, as safetensors has it, so that ``load_model``
    fills both. Unlike safetensors, tensors that merely overlap are both written.

    Args:
        model: its ``state_dict`` is what is written.
        filename: used as it is, as by ``save_file``.
        metadata: texts by key.
        force_contiguous: write a parameter that is not in C order as if it were; else refuse it.
        scalars: numbers and flags by name.
        param_ids: ids of parameters by name.
        durable: wait until the disk has the file.
        limits: what may not be exceeded.

    Raises:
        ValueError: ``force_contiguous`` is off and parameters are not contiguous; all are named.

    Example:
        >>> import torch
        >>> save_model(torch.nn.Linear(4, 2), "linear.bpk")
    """
    state = model.state_dict()
    noted = dict(metadata or {})
    for kept, *dropped in ties_of(state):
        for name in dropped:
            del state[name]
            noted.setdefault(name, kept)
    if not force_contiguous and (
        strided := [name for name, tensor in state.items() if not tensor.is_contiguous()]
    ):
        raise ValueError(f"not contiguous, and force_contiguous is off: {', '.join(strided)}")
    save_file(state, filename, noted, scalars=scalars, param_ids=param_ids, durable=durable, limits=limits)


def ties_of(state: Mapping[str, torch.Tensor]) -> list[list[str]]:
    """Groups of names, each in name order, whose tensors are the very same elements in memory."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name in sorted(state):
        tensor = state[name]
        if tensor.numel() > 0:
            key = (tensor.device, tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
            groups.setdefault(key, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def load_model(
    model: torch.nn.Module,
    filename: Place,
    strict: bool = True,
    device: str | int = "cpu",
) -> tuple[set[str], list[str]]:
    """Fill a model from a file and return the names that the file lacks and those that the model lacks.

    Names and shapes are all checked before any parameter changes. A parameter that is tied in the model needs one of
    its names; a tie that the file's metadata notes is followed.

    Args:
        model: what is filled.
        filename: found as by ``load_file``.
        strict: refuse a file that lacks names or has others.
        device: where the tensors pass through on their way.

    Raises:
        RuntimeError: shapes differ, or names do and ``strict`` is on; all are listed.

    Example:
        >>> import torch
        >>> model = torch.nn.Linear(4, 2)
        >>> save_model(model, "linear.bpk")
        >>> load_model(model, "linear.bpk")
        (set(), [])
    """
    found, noted = load_file(filename, device=device, with_metadata=True)
    state = model.state_dict()
    for name in state.keys() - found.keys():
        if noted.get(name) in found:
            found[name] = found[noted[name]]
    missing, unexpected = state.keys() - found.keys(), [name for name in found if name not in state]
    for names in ties_of(state):
        if not missing.issuperset(names):
            missing.difference_update(names)
    problems = [
        f"{name}: the file has {tuple(found[name].shape)}, the model {tuple(tensor.shape)}"
        for name, tensor in state.items()
        if name in found and found[name].shape != tensor.shape
    ]
    if strict and missing:
        problems.append(f"missing in the file: {', '.join(sorted(missing))}")
    if strict and unexpected:
        problems.append(f"not in the model: {', '.join(unexpected)}")
    if problems:
        raise RuntimeError(f"{filename} does not fit {type(model).__name__}:\n  " + "\n  ".join(problems))
    model.load_state_dict({name: found[name] for name in state if name in found}, strict=False)
    return set(missing), unexpected


def _entries(tensors: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors must be a mapping, got {type(tensors).__name__}")
    import torch

    return {
        name: entry_of(name, value) if isinstance(value, torch.Tensor) else value
        for name, value in tensors.items()
    }


def entry_of(name: str, tensor: torch.Tensor) -> Any:
    """What the core takes for a tensor: an array over its memory, or a tensor that is fetched in its turn."""
    import torch

    dtype = _dtype_name(name, tensor)
    tensor = tensor.detach()
    if tensor.device.type != "cpu" or not tensor.is_contiguous() or tensor.is_neg():
        return _core.TensorEntry.deferred(
            name, dtype=dtype, shape=tuple(tensor.shape), provider=_fetcher(tensor)
        )
    if tensor.dtype is torch.bfloat16:
        return _core.TensorEntry(name, dtype, tuple(tensor.shape), data=tensor.view(torch.int16).numpy())
    return tensor.numpy()


def _fetcher(tensor: torch.Tensor) -> Callable[[], Any]:
    import torch

    def fetch() -> Any:
        at_hand = tensor.resolve_neg().cpu().contiguous()
        # NumPy has no bfloat16 of its own; the bits are what counts.
        return (at_hand.view(torch.int16) if at_hand.dtype is torch.bfloat16 else at_hand).numpy()

    return fetch


_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
}  # fmt: skip


def _dtype_name(name: str, tensor: torch.Tensor) -> str:
    import torch

    torch_name = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided:
        what = f"{str(tensor.layout).removeprefix('torch.')} tensors"
    elif tensor.is_meta:
        what = "tensors on the meta device, which have no data"
    elif torch_name in _DTYPES:
        return _DTYPES[torch_name]
    else:
        what = torch_name
    raise DTypeError(f"tensor {name!r}: burnpack has no dtype for {what}", tensor=name, dtype=torch_name)
