"""What changes a tensor on its way between two conventions: transposed weights, other names, other floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from burnpy.errors import DTypeError
from burnpy.store.dtype import cast_float, dtype_of, is_castable, is_float, numpy_dtype
from burnpy.store.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "BurnToPyTorchAdapter",
    "ChainAdapter",
    "FloatCastAdapter",
    "HalfPrecisionAdapter",
    "IdentityAdapter",
    "ModuleAdapter",
    "ModuleContext",
    "PyTorchToBurnAdapter",
]

# Norms whose `gamma` and `beta` PyTorch calls `weight` and `bias`. InstanceNorm is not among them in Burn either.
_NORMS = frozenset({"Struct:BatchNorm", "Struct:LayerNorm", "Struct:GroupNorm", "Struct:RmsNorm"})
_TO_BURN = {"weight": "gamma", "bias": "beta"}
_TO_PYTORCH = {"gamma": "weight", "beta": "bias"}
# BatchNorm is left out: a small running variance would be 0 in f16.
_HALVED = (
    "Linear", "Embedding", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "DeformConv2d", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm", "PRelu",
)  # fmt: skip


@dataclass(frozen=True)
class ModuleContext:
    """Where a tensor lives: the types of what owns each part of its name, from the outside in.

    Example:
        >>> ModuleContext(("Struct:Model", "Vec", "Struct:Linear")).module_type()
        'Struct:Linear'
        >>> ModuleContext(("Struct:Model", "Vec")).container_type()
        'Vec'
    """

    container: tuple[str, ...] = ()

    def __init__(self, container: Sequence[str] = ()) -> None:
        if isinstance(container, str):
            raise TypeError(f"container must be several texts, got the single text {container!r}")
        object.__setattr__(self, "container", tuple(container))

    def module_type(self) -> str | None:
        """The innermost struct or enum, or ``None``."""
        modules = (one for one in reversed(self.container) if one.startswith(("Struct:", "Enum:")))
        return next(modules, None)

    def container_type(self) -> str:
        """The innermost container of any kind, or ``Unknown``."""
        return self.container[-1] if self.container else "Unknown"


class ModuleAdapter:
    """Changes tensors by the kind of module that they belong to; the base of one's own adapters.

    Example:
        >>> class Doubled(ModuleAdapter):
        ...     def adapt(self, tensor, ctx):
        ...         return tensor.map_data(tensor.name, tensor.dtype, tensor.shape, lambda array: array * 2)
        >>> both = PyTorchToBurnAdapter().chain(Doubled())
        >>> weight = TensorSnapshot.from_array("fc.weight", np.ones((5, 10), np.float32))
        >>> both.adapt(weight, ModuleContext(["Struct:Linear"])).shape
        (10, 5)
    """

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor as the other side has it; the same object where nothing changes."""
        raise NotImplementedError(f"{type(self).__name__} must define adapt()")

    def get_alternative_param_name(self, param_name: str, container_type: str) -> str | None:
        """What a checkpoint may call a parameter of a module, asked for when its own name is not there.

        Args:
            param_name: the last part of the module's own name.
            container_type: the module's type, as ``Struct:BatchNorm``.
        """
        return None

    def chain(self, next: ModuleAdapter) -> ChainAdapter:
        """This adapter, then another."""
        return ChainAdapter(self, next)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class IdentityAdapter(ModuleAdapter):
    """Changes nothing."""

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor itself."""
        return tensor


class ChainAdapter(ModuleAdapter):
    """One adapter after the other; both see the same module.

    Raises:
        TypeError: one of the two is no adapter.
    """

    def __init__(self, first: ModuleAdapter, next: ModuleAdapter) -> None:
        for adapter in (first, next):
            if not isinstance(adapter, ModuleAdapter):
                raise TypeError(f"a chain needs adapters, got {type(adapter).__name__}")
        self.first = first
        self.next = next

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor as the second adapter makes it of what the first one made."""
        return self.next.adapt(self.first.adapt(tensor, ctx), ctx)

    def get_alternative_param_name(self, param_name: str, container_type: str) -> str | None:
        """The second adapter's name for the first one's answer, or whichever of the two answers."""
        name = self.first.get_alternative_param_name(param_name, container_type)
        last = self.next.get_alternative_param_name(param_name if name is None else name, container_type)
        return name if last is None else last

    def __repr__(self) -> str:
        return f"ChainAdapter({self.first!r}, {self.next!r})"


class PyTorchToBurnAdapter(ModuleAdapter):
    """PyTorch's conventions into Burn's: weights of ``Linear`` transposed, ``weight`` and ``bias`` of norms renamed.

    Norms are ``BatchNorm``, ``LayerNorm``, ``GroupNorm`` and ``RmsNorm``. A tensor of no known module is unchanged,
    and so is a quantized weight. The transpose is announced at once and made when the tensor is drawn, as a view.
    """

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor as Burn has it."""
        return _adapted(tensor, ctx, _TO_BURN)

    def get_alternative_param_name(self, param_name: str, container_type: str) -> str | None:
        """PyTorch's name of a norm's ``gamma`` or ``beta``."""
        return _TO_PYTORCH.get(param_name) if container_type in _NORMS else None


class BurnToPyTorchAdapter(ModuleAdapter):
    """Burn's conventions into PyTorch's: the way back of ``PyTorchToBurnAdapter``."""

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor as PyTorch has it."""
        return _adapted(tensor, ctx, _TO_PYTORCH)

    def get_alternative_param_name(self, param_name: str, container_type: str) -> str | None:
        """Burn's name of a norm's ``weight`` or ``bias``."""
        return _TO_BURN.get(param_name) if container_type in _NORMS else None


class HalfPrecisionAdapter(ModuleAdapter):
    """``f32`` into ``f16`` and ``f16`` into ``f32``, in modules that bear it.

    Those are the layers with weights and the norms, but ``BatchNorm``, whose running variance may be too small for
    f16. Parameters directly in a module of one's own stay as well; ``FloatCastAdapter`` casts everything.

    Args:
        to: ``"f16"`` or ``"f32"``: cast in this direction alone. Unlike Burn, whose adapter turns every tensor into
            the other of the two, so that loading an f32 file through it gives f16; so does ``None``, the default.

    Raises:
        ValueError: another direction.

    Example:
        >>> adapter = HalfPrecisionAdapter(to="f16").with_module("BatchNorm").without_module("Embedding")
        >>> tensor = TensorSnapshot.from_array("norm.gamma", np.ones(4, np.float32))
        >>> adapter.adapt(tensor, ModuleContext(["Struct:BatchNorm"])).dtype
        'f16'
    """

    def __init__(self, *, to: Literal["f16", "f32"] | None = None) -> None:
        if to not in (None, "f16", "f32"):
            raise ValueError(f"to must be 'f16', 'f32' or None, got {to!r}")
        self.to = to
        self._modules = {_module_type(name) for name in _HALVED}

    def with_module(self, name: str) -> Self:
        """Cast in this module too; a struct's bare name will do, an enum is written ``Enum:Name``."""
        self._modules.add(_module_type(name))
        return self

    def without_module(self, name: str) -> Self:
        """Do not cast in this module.

        Raises:
            ValueError: it is not among those in which there is casting.
        """
        module_type = _module_type(name)
        if module_type not in self._modules:
            raise ValueError(f"{module_type} is none of {', '.join(sorted(self._modules))}")
        self._modules.remove(module_type)
        return self

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor in the other precision, if its module is among those in which there is casting."""
        target = {"f32": "f16", "f16": "f32"}.get(tensor.dtype)
        if target is None or self.to not in (None, target) or ctx.module_type() not in self._modules:
            return tensor
        return _cast(tensor, target)

    def __repr__(self) -> str:
        return f"HalfPrecisionAdapter(to={self.to!r})"


class FloatCastAdapter(ModuleAdapter):
    """Every float into one dtype, whatever the module; integers, bools and quantized tensors stay.

    Unlike Burn, which has none, floats of one byte are cast as well.

    Args:
        dtype: text form or NumPy dtype: ``f64``, ``f32``, ``flex32``, ``f16`` or ``bf16``.

    Raises:
        ValueError: it is no such float.

    Example:
        >>> tensor = TensorSnapshot.from_array("w", np.array([1.5, -2.25]))
        >>> FloatCastAdapter.to("bf16").adapt(tensor, ModuleContext()).to_numpy()
        array([1.5, -2.25], dtype=bfloat16)
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_of(dtype)
        if not is_float(self.dtype):
            raise ValueError(f"dtype must be a float that Burn knows, got {self.dtype}")

    @classmethod
    def to(cls, dtype: Any) -> Self:
        """The adapter, under Burn's name of the constructor."""
        return cls(dtype)

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        """The tensor in the dtype, if it is a float."""
        return _cast(tensor, self.dtype) if is_castable(tensor.dtype) else tensor

    def __repr__(self) -> str:
        return f"FloatCastAdapter.to({self.dtype!r})"


def _adapted(tensor: TensorSnapshot, ctx: ModuleContext, names: dict[str, str]) -> TensorSnapshot:
    module_type = ctx.module_type()
    owner, dot, param = tensor.name.rpartition(".")
    if module_type == "Struct:Linear" and param == "weight" and len(tensor.shape) == 2:
        return _transposed(tensor)
    if module_type in _NORMS and param in names:
        return tensor.rename(f"{owner}{dot}{names[param]}")
    return tensor


def _transposed(tensor: TensorSnapshot) -> TensorSnapshot:
    if tensor.scheme is not None:
        return tensor
    if numpy_dtype(tensor.dtype) is None:
        message = f"tensor {tensor.name!r}: {tensor.dtype} is packed and cannot be transposed"
        raise DTypeError(message, tensor=tensor.name, dtype=tensor.dtype)
    return tensor.map_data(tensor.name, tensor.dtype, tensor.shape[::-1], np.transpose)


def _cast(tensor: TensorSnapshot, target: str) -> TensorSnapshot:
    source = tensor.dtype
    if source == target:
        return tensor
    return tensor.map_data(tensor.name, target, tensor.shape, lambda array: cast_float(array, source, target))


def _module_type(name: str) -> str:
    return name if ":" in name else f"Struct:{name}"
