"""Parameters seen through another module: a frozen base, and something small that trains."""

from __future__ import annotations

from typing import ClassVar, Protocol

from burnpy._core import Tensor
from burnpy.module.module import Module
from burnpy.module.param import Param

__all__ = ["Reparameterization", "Reparameterizer", "attached"]


class Reparameterization(Module):
    """Base of modules that make the effective value of a parameter from its base.

    It hangs on the parameter: its own parameters are visited and recorded after the base, under the path of the base
    and :attr:`name`. Attributes that are no parameters are not recorded; the target of a load must have the same ones.

    Example:
        >>> class ScaleBy(Reparameterization):
        ...     name = "scale_by"
        ...     def __init__(self):
        ...         self.factor = Param.from_tensor(Tensor([2.0]))
        ...     def apply(self, base):
        ...         return base * self.factor.val().reshape([1] * len(base.shape))
        >>> class ScaleWeights:
        ...     def reparameterize(self, path, param):
        ...         return ScaleBy() if path.endswith("weight") else None
        >>> class Net(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([1.0, 3.0]))
        >>> net = Net().apply_reparameterization(ScaleWeights())
        >>> net.weight.val().tolist(), [path for path, _ in net.named_params()]
        ([2.0, 6.0], ['weight', 'weight.scale_by.factor'])

    Source: Burn ``module::Reparameterization``.
    """

    name: ClassVar[str]

    def apply(self, base: Tensor) -> Tensor:
        """The effective value."""
        raise NotImplementedError(f"{type(self).__name__} has no apply")


class Reparameterizer(Protocol):
    """What chooses the parameters that are seen through something: :meth:`Module.apply_reparameterization` takes it."""

    def reparameterize(self, path: str, param: Param) -> Reparameterization | None:
        """What a parameter of floats gets; the parameter is a copy, and may be changed."""


def attached(reparameterizer: Reparameterizer, path: str, param: Param) -> Param:
    """A copy of a parameter, seen through what the reparameterizer gives it.

    Raises:
        ValueError: it has one already, or the name is no part of a path.
        TypeError: what it is given is no :class:`Reparameterization`.
    """
    copy = param.clone()
    found = reparameterizer.reparameterize(path, copy)
    if found is None:
        return copy
    if not isinstance(found, Reparameterization):
        raise TypeError(f"{path}: expected a Reparameterization or None, got {found!r}")
    name = getattr(type(found), "name", "")
    if not name or "." in name:
        raise ValueError(f"{path}: {type(found).__name__}.name must be a part of a path, got {name!r}")
    if param.reparam is not None:
        raise ValueError(
            f"{path} has the reparameterization {param.reparam.name} already; they cannot be nested"
        )
    copy.reparam = found
    return copy
