"""What a module's optimizer does in a step, prepared once for as long as module, groups and rates stay the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

from burnpy._core import RuleState, Tensor
from burnpy.errors import DTypeError, ShapeError
from burnpy.optim.optimizer import FusedOptimizer, Optimizer
from burnpy.record.state import RecordState, StateSink, StateSource

if TYPE_CHECKING:
    from burnpy._core import Cell
    from burnpy.module import ParamGroup
    from burnpy.optim.grad_clipping import GradientClipping
    from burnpy.optim.parameters import Parameters

__all__ = ["Context", "Plan", "Run", "like"]


class Context:
    """What an optimizer knows of one parameter: its rule, its clipping, and what the rule remembers."""

    __slots__ = ("clipping", "optimizer", "path", "rank", "state")

    def __init__(
        self,
        optimizer: Optimizer[Any],
        clipping: GradientClipping | None,
        path: str | None,
        rank: int = 0,
        state: RecordState | None = None,
    ) -> None:
        self.optimizer = optimizer
        self.clipping = clipping
        self.path = path
        self.rank = rank
        self.state: RecordState | RuleState | None = state
        if isinstance(optimizer, FusedOptimizer):
            self.state = RuleState() if state is None else optimizer.pack(state)

    def is_fresh(self) -> bool:
        """Whether no step was made yet that is remembered."""
        return self.state is None or (isinstance(self.state, RuleState) and self.state.time == 0)

    def recorded(self) -> RecordState | None:
        """The state as a record has it."""
        if self.is_fresh():
            return None
        if isinstance(self.state, RuleState):
            assert isinstance(self.optimizer, FusedOptimizer), "no other rule has this form"
            state: RecordState = self.optimizer.unpack(self.state)
            return state
        return self.state

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, (self.optimizer, self.clipping, self.path, self.rank, self.recorded())

    def clone(self) -> Context:
        """Another one that goes on from the same state."""
        copy = Context(self.optimizer, self.clipping, self.path, self.rank)
        copy.state = self.state.clone() if isinstance(self.state, RuleState) else self.state
        return copy

    def bind(self, path: str, tensor: Tensor) -> None:
        """Have it serve this parameter; a state of another dtype, as files may have, is cast.

        Raises:
            ShapeError: the state is that of a parameter of another shape.
        """
        self.path, self.rank = path, tensor.ndim
        state = self.recorded()
        if state is None or not self.optimizer._state_is_like_parameter:
            return
        sink = StateSink()
        state.state_flatten("", sink)
        for name, held in sink.tensors.items():
            if held.shape != tensor.shape:
                raise ShapeError(
                    f"{path}: the parameter has shape {tensor.shape}, the optimizer's {name} has {held.shape}"
                )
        if any(held.dtype != tensor.dtype for held in sink.tensors.values()):
            tensors = {name: held.cast(tensor.dtype) for name, held in sink.tensors.items()}
            cast = type(state).state_unflatten("", StateSource(sink.scalars, tensors))
            self.state = Context(self.optimizer, None, None, state=cast).state


class Run:
    """Parameters that one rule updates at one rate."""

    def __init__(self, optimizer: Optimizer[Any], rate: int) -> None:
        self.optimizer = optimizer
        self.rate = rate
        self.places: list[int] = []
        self.contexts: list[Context] = []
        self.cells: list[Cell] = []
        self.paths: list[str] = []

    def picked(self, gradients: Sequence[Tensor | None]) -> tuple[Run, list[Tensor]]:
        """The run of those that have a gradient, and the gradients."""
        found = [gradients[place] for place in self.places]
        if not any(gradient is None for gradient in found):
            return self, found  # type: ignore[return-value]
        run = Run(self.optimizer, self.rate)
        for i, gradient in enumerate(found):
            if gradient is not None:
                run.add(self.places[i], self.contexts[i], self.cells[i], self.paths[i])
        return run, [gradient for gradient in found if gradient is not None]

    def add(self, place: int, context: Context, cell: Cell, path: str) -> None:
        """Take one more parameter."""
        self.places.append(place)
        self.contexts.append(context)
        self.cells.append(cell)
        self.paths.append(path)

    def check(self, gradients: Sequence[Tensor]) -> None:
        """Whether gradients fit their parameters.

        Raises:
            ShapeError, DTypeError: one does not.
        """
        for cell, path, gradient in zip(self.cells, self.paths, gradients, strict=True):
            tensor = cell.get()
            if gradient.shape != tensor.shape:
                raise ShapeError(
                    f"{path}: the parameter has shape {tensor.shape}, its gradient {gradient.shape}"
                )
            if gradient.dtype != tensor.dtype:
                raise DTypeError(f"{path}: the parameter is {tensor.dtype}, its gradient {gradient.dtype}")

    def update(self, gradients: Sequence[Tensor], lr: float) -> None:
        """A step of a fused rule, in place."""
        assert isinstance(self.optimizer, FusedOptimizer), "asked before"
        states: Any = [context.state for context in self.contexts]
        self.optimizer.rule.step(self.cells, gradients, states, lr)

    def computed(self, gradients: Sequence[Tensor], lr: float) -> Callable[[], None]:
        """A step of any other rule: computed now, and done when the result is called."""
        new = []
        for context, cell, path, gradient in zip(
            self.contexts, self.cells, self.paths, gradients, strict=True
        ):
            past = cell.get()
            tensor, state = self.optimizer.step(lr, past.inner(), gradient, context.state)
            new.append((context, cell, like(past, tensor.inner(), path), _declared(self.optimizer, state)))

        def done() -> None:
            for context, cell, tensor, state in new:
                cell.set(tensor)
                context.state = state

        return done


class Plan:
    """The runs of a module's parameters, and which of them are clipped together."""

    def __init__(
        self,
        parameters: Parameters,
        contexts: Sequence[Context],
        groups: Sequence[ParamGroup],
        winners: Sequence[int],
    ) -> None:
        self.parameters = parameters
        self.groups = groups
        runs: dict[tuple[int, int], Run] = {}
        self.clipped: dict[GradientClipping, list[int]] = {}
        for place, (context, rate) in enumerate(zip(contexts, winners, strict=True)):
            run = runs.setdefault((id(context.optimizer), rate), Run(context.optimizer, rate))
            run.add(place, context, parameters.cells[place], parameters.paths[place])
            if context.clipping is not None:
                self.clipped.setdefault(context.clipping, []).append(place)
        self.runs = list(runs.values())

    def fits(self, parameters: Parameters, groups: Sequence[ParamGroup]) -> bool:
        """Whether it is that of these parameters, with rates for these groups."""
        return (
            self.parameters is parameters
            and len(groups) == len(self.groups)
            and all(map(is_, groups, self.groups))
        )


def like(past: Tensor, new: Tensor, path: str) -> Tensor:
    """A new value of a parameter, trained as the past one was.

    Raises:
        ShapeError: it has another shape or dtype.
    """
    if new.shape != past.shape or new.dtype != past.dtype:
        raise ShapeError(
            f"{path}: the optimizer made {new.dtype} of shape {new.shape} of a parameter of {past.dtype}, {past.shape}"
        )
    if not past.is_autodiff():
        return new
    return new.autodiff().set_require_grad(past.is_require_grad())


def _declared(optimizer: Optimizer[Any], state: RecordState | None) -> RecordState | None:
    if state is not None and not isinstance(state, optimizer.State):
        raise TypeError(
            f"{type(optimizer).__name__}.step returned a state of {type(state).__name__}, "
            f"its State is {optimizer.State.__name__}"
        )
    return state
