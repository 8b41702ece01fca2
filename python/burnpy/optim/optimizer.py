"""What an optimizer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from burnpy.config import Config
from burnpy.record.state import RecordState

if TYPE_CHECKING:
    from burnpy._core import Device, RuleState, Tensor, UpdateRule
    from burnpy.optim.grad_clipping import GradientClippingConfig
    from burnpy.optim.module_optimizer import ModuleOptimizer

__all__ = ["FusedOptimizer", "NoState", "Optimizer", "OptimizerConfig"]

S = TypeVar("S", bound=RecordState)


class NoState(RecordState):
    """The state of an optimizer that remembers nothing."""


class Optimizer(Generic[S]):
    """Base of update rules: how one tensor changes, given its gradient and what is remembered of earlier steps.

    A custom rule overrides :meth:`step` and names its :attr:`State`; :class:`ModuleOptimizer` applies it to the
    parameters of a module, clips, and keeps its states in records.

    Attributes:
        State: the declared ``RecordState``, whose fields are the leaf names in the file.

    Example:
        >>> from burnpy.record.state import RecordState
        >>> from burnpy import Tensor
        >>> class Average(RecordState):
        ...     mean: Tensor
        >>> class Smoothed(Optimizer[Average]):
        ...     State = Average
        ...     def step(self, lr, tensor, grad, state):
        ...         mean = grad if state is None else state.mean * 0.9 + grad * 0.1
        ...         return tensor - mean * lr, Average(mean)
        >>> tensor, state = Smoothed().step(0.5, Tensor([1.0]), Tensor([1.0]), None)
        >>> tensor.tolist(), state.mean.tolist()
        ([0.5], [1.0])

    Source: Burn ``optim::Optimizer``.
    """

    State: ClassVar[type[RecordState]] = NoState
    # Whether the tensors of a state have the parameter's shape and dtype: those of a file are made so.
    _state_is_like_parameter: ClassVar[bool] = False

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: S | None) -> tuple[Tensor, S | None]:
        """The tensor and the state after a step; no state means that nothing is remembered.

        Tensors are off the graph. ``state`` is ``None`` before the first step.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method step(lr, tensor, grad, state)")

    def to_device(self, state: S, device: Device) -> S:
        """The state on a device. There is one device, so it is the state itself unless overridden."""
        return state


class FusedOptimizer(Optimizer[S]):
    """Base of the rules that the core also has: there all parameters are updated in one call, in place.

    :attr:`rule` and :meth:`step` give the same bits; a test holds them equal.
    """

    rule: UpdateRule
    _state_is_like_parameter = True

    def pack(self, state: S) -> RuleState:
        """A state in the form in which the core keeps it."""
        raise NotImplementedError

    def unpack(self, state: RuleState) -> S:
        """The state that :meth:`pack` was given."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        # The rule in the core is made of the configuration again.
        return type(self), (vars(self)["config"],)


class OptimizerConfig(Config):
    """Base of configurations of optimizers.

    Any number is taken, as Burn does, so that its files load; :meth:`build` and :meth:`init` check them.
    """

    def build(self) -> Optimizer[Any]:
        """The bare rule, for :meth:`ModuleOptimizer.with_group`; the configured clipping is not part of it.

        Raises:
            ConfigError: a number makes no sense, with its name and value.
        """
        raise NotImplementedError

    def init(self) -> ModuleOptimizer:
        """An optimizer for the parameters of a module, with the configured clipping.

        Raises:
            ConfigError: as :meth:`build`.
        """
        from burnpy.optim.module_optimizer import ModuleOptimizer

        clipping = self._clipping()
        return ModuleOptimizer(self.build(), None if clipping is None else clipping.init())

    def _clipping(self) -> GradientClippingConfig | None:
        clipping: GradientClippingConfig | None = getattr(self, "grad_clipping", None)
        return clipping
