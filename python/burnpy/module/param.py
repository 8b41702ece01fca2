"""Parameters: the only things that change in training."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from burnpy._core import Cell, Tensor
from burnpy.module.param_id import ParamId

if TYPE_CHECKING:
    from typing import Any

    from burnpy._core import Device
    from burnpy.module.reparameterization import Reparameterization

__all__ = ["Init", "Mapper", "Param"]

Mapper = Callable[[Tensor], Tensor]
"""A change of a tensor's form between memory and file."""

Init = Callable[["Device", bool], Tensor]
"""Makes a parameter's first value for a device; the flag says whether a gradient is wanted."""


class Param:
    """A tensor with an identity, that a module owns and an optimizer changes.

    Its value is made when it is first needed, if it was declared with an initializer; then it is exchanged, or updated
    where it lies if nobody else holds its memory. So what :meth:`val` returned never changes.

    Made by :meth:`from_tensor`, :meth:`from_data`, :meth:`initialized` or :meth:`uninitialized`.

    Example:
        >>> from burnpy import Tensor
        >>> param = Param.from_tensor(Tensor([1.0, 2.0]))
        >>> param.val().is_require_grad(), param.lazy_shape()
        (True, (2,))

    Source: Burn ``module::Param``.
    """

    __slots__ = ("__weakref__", "_active", "_cell", "_lazy", "_load_mapper", "_save_mapper", "id", "reparam")

    def __init__(self, id: ParamId, lazy: _Lazy | None, value: Tensor | None, active: bool) -> None:
        self.id = id
        self._lazy = lazy
        self._cell = None if value is None else Cell(value)
        self._active = active
        self._load_mapper: Mapper | None = None
        self._save_mapper: Mapper | None = None
        self.reparam: Reparameterization | None = None

    @classmethod
    def initialized(cls, id: ParamId, value: Tensor) -> Param:
        """A parameter of that id and value, which trains if the value asks for a gradient."""
        return cls(id, None, value, value.is_require_grad())

    @classmethod
    def uninitialized(
        cls, id: ParamId, init: Init, device: Device, is_require_grad: bool, shape: tuple[int, ...]
    ) -> Param:
        """A parameter whose value ``init(device, require_grad)`` makes when it is first needed, once."""
        return cls(id, _Lazy(init, device, is_require_grad, tuple(shape)), None, is_require_grad)

    @classmethod
    def from_tensor(cls, tensor: Tensor) -> Param:
        """A parameter with a new id, that trains if the tensor is of floats and on an autodiff device.

        Raises:
            TypeError: it is no tensor.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor, got {type(tensor).__name__}; from_data takes numbers")
        if tensor.kind != "float":
            return cls(ParamId.new(), None, tensor.detach(), False)
        value = tensor.detach()
        return cls(ParamId.new(), None, value.require_grad() if value.is_autodiff() else value, True)

    @classmethod
    def from_data(cls, data: Any, device: Device | None = None) -> Param:
        """:meth:`from_tensor` of numbers, as ``Tensor.from_data`` takes them."""
        return cls.from_tensor(Tensor.from_data(data, device))

    def val(self) -> Tensor:
        """The effective value: the base, seen through a reparameterization if there is one."""
        base = self.base()
        return base if self.reparam is None else self.reparam.apply(base)

    def base(self) -> Tensor:
        """The stored value."""
        cell = self._cell
        return cell.get() if cell is not None else self._initialize().get()

    @property
    def cell(self) -> Cell:
        """Where the value is kept: what an optimizer changes."""
        return self._cell if self._cell is not None else self._initialize()

    def set_base(self, value: Tensor) -> None:
        """Exchange the stored value."""
        if self._cell is None:
            self._cell = Cell(value)
        else:
            self._cell.set(value)
        self._lazy = None

    def _initialize(self) -> Cell:
        assert self._lazy is not None, "a parameter without value or initializer"
        value = self._lazy.value()
        if self._active != self._lazy.require_grad or value.is_require_grad() != self._active:
            value = _with_grad(value, self._active)
        self._cell = Cell(value)
        self._lazy = None
        return self._cell

    def is_initialized(self) -> bool:
        """Whether the value is there already."""
        return self._cell is not None

    def lazy_shape(self) -> tuple[int, ...]:
        """The shape, as declared while there is no value. Makes none."""
        if self._cell is not None:
            return self._cell.get().shape
        assert self._lazy is not None, "a parameter without value or initializer"
        return self._lazy.shape

    def value_shape(self) -> tuple[int, ...]:
        """The shape in memory. Makes the value only where the declared shape can be another, that of its record."""
        return self.lazy_shape() if self._save_mapper is None else self.base().shape

    def record_shape(self) -> tuple[int, ...]:
        """The shape that a record of it has. Makes no value."""
        # Unlike Burn: the shape in the file's form, also for a parameter that is initialized; Burn compares the form
        # in memory, and so refuses its own file of a Col layout.
        if self._cell is None or self._save_mapper is None:
            return self.lazy_shape()
        return self.transform_for_save().shape

    def lazy_device(self) -> Device:
        """The device, as declared while there is no value. Makes none."""
        if self._cell is not None:
            return self._cell.get().device
        assert self._lazy is not None, "a parameter without value or initializer"
        return self._lazy.device

    @property
    def active(self) -> bool:
        """Whether it trains: what was configured, also where the tensor cannot tell, on a device without autodiff."""
        return self._active

    @property
    def kind(self) -> Literal["float", "int", "bool"]:
        """What it holds. An undrawn parameter is of floats."""
        return "float" if self._cell is None else self._cell.get().kind

    def set_require_grad(self, wanted: bool) -> Param:
        """Have it train or not; returns itself. On a device without autodiff it is remembered for ``train()``."""
        self._active = wanted
        if self._cell is not None and self.kind == "float":
            self._cell.set(_with_grad(self._cell.get(), wanted))
        return self

    def map(self, function: Mapper) -> Param:
        """A parameter of the same id with another value; mappers and whether it trains are kept."""
        value = function(self.base())
        param = Param(
            self.id, None, _with_grad(value, self._active) if value.kind == "float" else value, self._active
        )
        param._load_mapper, param._save_mapper = self._load_mapper, self._save_mapper
        return param

    def load_mapper(self, function: Mapper) -> Param:
        """Set what is done to a recorded tensor before it becomes the value; returns itself."""
        self._load_mapper = function
        return self

    def save_mapper(self, function: Mapper) -> Param:
        """Set what is done to the value before it is recorded; returns itself."""
        self._save_mapper = function
        return self

    def init_mapper(self, function: Mapper) -> Param:
        """Set what is done to the first value, at once if it is there; the declared shape stays. Returns itself."""
        if self._lazy is not None and self._cell is None:
            self._lazy = self._lazy.then(function)
        else:
            self.set_base(_with_grad(function(self.base().detach().inner()), self._active))
        return self

    def transform_for_save(self) -> Tensor:
        """What a record holds: the base, as what it is seen through is recorded beside it."""
        value = self.base().inner()
        return value if self._save_mapper is None else self._save_mapper(value)

    def transform_for_load(self, tensor: Tensor) -> Tensor:
        """The value that a recorded tensor becomes: on this parameter's device, through the load mapper."""
        device = self.lazy_device()
        value = tensor if self._load_mapper is None else self._load_mapper(tensor)
        value = value.autodiff() if device.is_autodiff() else value
        return _with_grad(value, self._active) if value.kind == "float" else value

    def clone(self) -> Param:
        """The same value and id in an independent parameter. An undrawn value stays undrawn, and is drawn once for all.

        Cost: none of the size of the value; memory is shared until one of them changes.
        """
        param = Param(self.id, self._lazy, None, self._active)
        if self._cell is not None:
            value = self._cell.get()
            param._cell = Cell(_with_grad(value, self._active) if value.is_tracked() else value)
        param._load_mapper, param._save_mapper, param.reparam = (
            self._load_mapper,
            self._save_mapper,
            self.reparam,
        )
        return param

    def with_device(self, device: Device, *, draw: bool = False) -> Param:
        """:meth:`clone` on a device. An undrawn value is drawn there, now if ``draw``, else when it is needed."""
        param = self.clone()
        if param._cell is None and draw:
            param._initialize()
        if param._cell is not None:
            value = param._cell.get().inner()
            value = value.autodiff() if device.is_autodiff() else value
            param._cell = Cell(_with_grad(value, self._active) if value.kind == "float" else value)
        elif param._lazy is not None:
            param._lazy = param._lazy.moved(device)
        return param

    def __getstate__(self) -> tuple[object, ...]:
        # An undrawn value is drawn: the function that draws it is no data.
        value, autodiff = self.base().inner(), self.lazy_device().is_autodiff()
        return (self.id, value, autodiff, self._active, self._load_mapper, self._save_mapper, self.reparam)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        id, value, autodiff, active, load_mapper, save_mapper, reparam = state
        value = value.autodiff() if autodiff else value
        self.__init__(id, None, _with_grad(value, active and value.kind == "float"), active)  # type: ignore[misc]
        self._load_mapper, self._save_mapper, self.reparam = load_mapper, save_mapper, reparam

    def __repr__(self) -> str:
        return f"Param: {self.id}"


class _Lazy:
    """A value that several clones share before it is made: made once, whoever asks first."""

    def __init__(self, init: Init, device: Device, require_grad: bool, shape: tuple[int, ...]) -> None:
        self.init = init
        self.device = device
        self.require_grad = require_grad
        self.shape = shape
        self._lock = threading.Lock()
        self._value: Tensor | None = None

    def value(self) -> Tensor:
        with self._lock:
            if self._value is None:
                self._value = self.init(self.device, self.require_grad and self.device.is_autodiff())
            return self._value

    def then(self, function: Mapper) -> _Lazy:
        def init(device: Device, require_grad: bool) -> Tensor:
            value = function(self.value().detach().inner())
            value = value.autodiff() if device.is_autodiff() else value
            return value.require_grad() if require_grad else value

        return _Lazy(init, self.device, self.require_grad, self.shape)

    def moved(self, device: Device) -> _Lazy:
        return _Lazy(self.init, device, self.require_grad, self.shape)


def _with_grad(value: Tensor, wanted: bool) -> Tensor:
    """The value as a leaf of its own, which asks for a gradient if wanted and its device can."""
    plain = value.inner()
    if not value.is_autodiff():
        return plain
    plain = plain.autodiff()
    return plain.require_grad() if wanted else plain
