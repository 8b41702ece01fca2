"""Gradients by parameter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from burnpy._core import Tensor, take_gradients
from burnpy.errors import AutodiffError, ShapeError
from burnpy.module import ParamId
from burnpy.optim.parameters import parameters_of

if TYPE_CHECKING:
    from burnpy._core import Device, Gradients
    from burnpy.module import Module

__all__ = ["GradientsParams", "summed"]


class GradientsParams:
    """The gradients of parameters, by their ids: what an optimizer's step consumes.

    Parameters that do not train, and those that a loss does not depend on, have none.

    Example:
        >>> from burnpy.module import Module, Param
        >>> class Scale(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([2.0, 3.0]))
        >>> model = Scale()
        >>> loss = model.weight.val().square().sum()
        >>> grads = GradientsParams.from_grads(loss.backward(), model)
        >>> len(grads), grads.get(model.weight.id).tolist()
        (1, [4.0, 6.0])

    Source: Burn ``optim::GradientsParams``.
    """

    __slots__ = ("_gradients",)

    def __init__(self) -> None:
        self._gradients: dict[int, Tensor] = {}

    @classmethod
    def new(cls) -> Self:
        """An empty one."""
        return cls()

    @classmethod
    def from_grads(cls, grads: Gradients, module: Module) -> Self:
        """The gradients of a module's parameters, taken out of what ``backward`` gave.

        Those of other tensors stay there.
        """
        found = cls()
        parameters = parameters_of(module)
        gradients = take_gradients(grads, parameters.cells)
        found._gradients = {
            key: grad for key, grad in zip(parameters.keys, gradients, strict=True) if grad is not None
        }
        return found

    @classmethod
    def from_module(cls, grads: Gradients, module: Module) -> Self:
        """:meth:`from_grads`: several modules can be served of one ``backward``, each in turn."""
        return cls.from_grads(grads, module)

    @classmethod
    def from_params(cls, grads: Gradients, module: Module, ids: Iterable[ParamId]) -> Self:
        """:meth:`from_grads` of some of the parameters; ids that the module does not have are passed over."""
        found = cls()
        parameters = parameters_of(module)
        wanted = {_key(id) for id in ids}
        pairs = [pair for pair in zip(parameters.keys, parameters.cells, strict=True) if pair[0] in wanted]
        gradients = take_gradients(grads, [cell for _, cell in pairs])
        for (key, _), grad in zip(pairs, gradients, strict=True):
            if grad is not None:
                found._gradients[key] = grad
        return found

    def get(self, id: ParamId) -> Tensor | None:
        """The gradient of a parameter, which stays here."""
        return self._gradients.get(_key(id))

    def remove(self, id: ParamId) -> Tensor | None:
        """The gradient of a parameter, which is not here any more then."""
        return self._gradients.pop(_key(id), None)

    def register(self, id: ParamId, tensor: Tensor) -> None:
        """Have a gradient for a parameter, instead of the one that is here.

        Raises:
            AutodiffError: the tensor is tracked; ``tensor.inner()`` is not.
            TypeError: it is no tensor, or the id none.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor must be a Tensor, got {tensor!r}")
        if tensor.is_tracked():
            raise AutodiffError(f"the gradient of {id} is tracked; register tensor.inner()")
        self._gradients[_key(id)] = tensor.inner()

    def ids(self) -> list[ParamId]:
        """The parameters that have a gradient."""
        return [ParamId(key) for key in self._gradients]

    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._gradients

    def len(self) -> int:
        """How many there are."""
        return len(self._gradients)

    def __len__(self) -> int:
        return len(self._gradients)

    def __contains__(self, id: ParamId) -> bool:
        return _key(id) in self._gradients

    def __iter__(self) -> Iterator[ParamId]:
        return iter(self.ids())

    def to_device(self, device: Device, module: Module) -> Self:
        """The gradients on a device. There is one device, so the tensors are the same."""
        moved = type(self)()
        moved._gradients = dict(self._gradients)
        return moved

    def __repr__(self) -> str:
        return f"GradientsParams({len(self)})"

    def _of(self, keys: Sequence[int]) -> list[Tensor | None]:
        """The gradients of parameters, ``None`` where there is none."""
        return [*map(self._gradients.get, keys)]

    def _all_of(self, keys: Sequence[int]) -> list[Tensor] | None:
        """The gradients of parameters, if all have one."""
        try:
            return [*map(self._gradients.__getitem__, keys)]
        except KeyError:
            return None

    def _clear(self) -> None:
        self._gradients.clear()


def summed(gradient: Tensor, other: Tensor) -> Tensor:
    """Two gradients of one parameter as one.

    Raises:
        ShapeError: their shapes differ.
    """
    if gradient.shape != other.shape:
        raise ShapeError(f"gradients of one parameter have shapes {gradient.shape} and {other.shape}")
    return gradient + other


def _key(id: ParamId) -> int:
    if not isinstance(id, ParamId):
        raise TypeError(f"id must be a ParamId, got {id!r}")
    return id.val()
