"""What a record holds under one name: a tensor, or one that still lies in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from burnpy import pack
from burnpy._core import Tensor, restore_tensor
from burnpy.errors import RecordIoError

if TYPE_CHECKING:
    from typing import Any

    from burnpy.pack import QuantScheme

__all__ = ["Entry", "kind_of", "tensor_of"]

# What NumPy's dtypes cannot tell apart, or have another length for: such tensors are copied out of a file.
_COPIED = ("flex32", "bool(u32)")


class Entry:
    """A tensor by name, with the id of its parameter. A lazy one is read when :meth:`tensor` is called, without a copy.

    Args:
        name: its name in the file.
        held: the tensor, or a view of an open file.
        param_id: the id, or ``None``.

    Example:
        >>> Entry("weight", Tensor([1.0, 2.0]), 7)
        Entry('weight', f32, (2,))
    """

    __slots__ = ("_held", "dtype", "name", "param_id", "scheme", "shape")

    def __init__(self, name: str, held: Tensor | pack.View, param_id: int | None) -> None:
        self.name = name
        self.param_id = param_id
        self.dtype = held.dtype
        self.shape = held.shape
        self.scheme = held.scheme if isinstance(held, pack.View) else _scheme(held)
        self._held = held.inner() if isinstance(held, Tensor) else held

    @property
    def kind(self) -> Literal["float", "int", "bool"]:
        """What it is a tensor of."""
        return kind_of(self.dtype)

    def tensor(self) -> Tensor:
        """The tensor, on a plain device.

        Cost: none of its size; one in a file is mapped, and copied when it is first changed. Quantized tensors and
        those of ``flex32`` are copied.

        Raises:
            RecordIoError: the file has something that no tensor can be.
        """
        if isinstance(self._held, Tensor):
            return self._held
        try:
            return tensor_of(self._held.numpy(), self.scheme or self.dtype, self.shape)
        except pack.Error as error:
            raise RecordIoError(str(error)) from error

    def into_pack(self) -> pack.Tensor:
        """What a writer takes; the elements are drawn when they are written."""
        return pack.Tensor.deferred(
            self.name,
            dtype=self.scheme or self.dtype,
            shape=self.shape,
            provider=self._held.numpy,
            param_id=self.param_id,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Entry, (self.name, self.tensor(), self.param_id)

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.dtype}, {self.shape})"


def tensor_of(array: Any, dtype: str | QuantScheme, shape: tuple[int, ...]) -> Tensor:
    """The plain tensor of an array's elements, which are those of a dtype; the memory is shared if it can be.

    Example:
        >>> tensor_of(Tensor([1, 0]).cast("u32").numpy(), "bool(u32)", (2,)).tolist()
        [True, False]
    """
    if dtype in _COPIED or not isinstance(dtype, str):
        return restore_tensor(dtype, shape, array.tobytes(), False, False)
    # What lies in another order is put in order once, and not at every use.
    return Tensor.from_numpy(array, copy=not array.flags.c_contiguous).inner()


def kind_of(dtype: str) -> Literal["float", "int", "bool"]:
    """What tensors of a dtype hold.

    Example:
        >>> kind_of("bf16"), kind_of("qfloat"), kind_of("u8"), kind_of("bool(u32)")
        ('float', 'float', 'int', 'bool')
    """
    if dtype.startswith("bool"):
        return "bool"
    return "int" if dtype[0] in "iu" else "float"


def _scheme(tensor: Tensor) -> QuantScheme | None:
    if tensor.dtype != "qfloat":
        return None
    # What a pickle restores it from begins with the scheme.
    scheme: QuantScheme = tensor.inner().__reduce_ex__(4)[1][0]
    return scheme
