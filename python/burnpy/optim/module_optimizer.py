"""The optimizer of a module's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, get_args

from burnpy.module import ParamGroup, ParamId
from burnpy.module.steps import STEP
from burnpy.optim.grad_clipping import GradientClipping, GradientClippingConfig, NonFinite
from burnpy.optim.gradients_params import GradientsParams
from burnpy.optim.hyper import learning_rate
from burnpy.optim.multi_gradients_params import MultiGradientsParams
from burnpy.optim.optimizer import FusedOptimizer, Optimizer
from burnpy.optim.parameters import parameters_of
from burnpy.optim.plan import Context, Plan

if TYPE_CHECKING:
    from typing import TypeVar

    from burnpy._core import Tensor
    from burnpy._typing import PathLike
    from burnpy.module import Module
    from burnpy.optim.parameters import Parameters
    from burnpy.record import OptimizerRecord

    M = TypeVar("M", bound=Module)

__all__ = ["ModuleOptimizer", "Rates"]

_NON_FINITE = get_args(NonFinite)


class Rates(Protocol):
    """Learning rates by group, the last that matches counts: what ``ModuleLrScheduler.step`` gives."""

    @property
    def groups(self) -> Sequence[tuple[ParamGroup, float]]:
        """Groups of parameters with their rates."""


class _Group(NamedTuple):
    group: ParamGroup
    optimizer: Optimizer[Any]
    clipping: GradientClipping | None


class ModuleOptimizer:
    """Update rules for the parameters of a module: one for all, others for groups, and what they remember.

    Made by ``init()`` of a configuration such as ``AdamWConfig``, or of a bare rule, also a custom one.

    A parameter keeps the rule and the clipping that its first step found, until :meth:`with_group` or a load changes
    them. Parameters without a gradient stay as they are, and so does what is remembered of them.

    Args:
        optim: the rule of all parameters that no group has.
        grad_clipping: how their gradients are clipped.

    Example:
        >>> from burnpy import Tensor
        >>> from burnpy.module import Module, Param
        >>> from burnpy.optim import GradientsParams, SgdConfig
        >>> class Scale(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([2.0]))
        >>> model, optim = Scale(), SgdConfig().init()
        >>> for _ in range(3):
        ...     loss = model.weight.val().square().sum()
        ...     grads = GradientsParams.from_grads(loss.backward(), model)
        ...     model = optim.step(0.25, model, grads)
        >>> model.weight.val().item()
        0.25

    Source: Burn ``optim::ModuleOptimizer``.
    """

    def __init__(
        self,
        optim: Optimizer[Any],
        grad_clipping: GradientClipping | GradientClippingConfig | None = None,
    ) -> None:
        self._groups = [_group(ParamGroup.all(), optim, grad_clipping)]
        self._contexts: dict[int, Context] = {}
        self._plan: Plan | None = None

    @classmethod
    def from_optimizer(cls, optim: Optimizer[Any]) -> Self:
        """The same as calling the class."""
        return cls(optim)

    def with_group(
        self,
        group: ParamGroup,
        optim: Optimizer[Any],
        grad_clipping: GradientClipping | GradientClippingConfig | None = None,
    ) -> Self:
        """Give a group of parameters a rule of its own; the last group that matches counts. Returns itself.

        What is remembered of the group's parameters is forgotten, so groups come before :meth:`load_record`.

        Args:
            group: the parameters.
            optim: a bare rule: what ``build()`` of a configuration gives.
            grad_clipping: how their gradients are clipped; the one in the rule's configuration is not used.
        """
        self._groups.append(_group(group, optim, grad_clipping))
        kept = self._contexts.items()
        self._contexts = {key: held for key, held in kept if not group.matches(ParamId(key), held.path)}
        self._plan = None
        return self

    def with_grad_clipping(self, clipping: GradientClipping | GradientClippingConfig | None) -> Self:
        """Clip the gradients of parameters that no group has, from their first step on. Returns itself."""
        self._groups[0] = self._groups[0]._replace(clipping=_clipping(clipping))
        self._plan = None
        return self

    def grad_clipping(self) -> GradientClipping | None:
        """How the gradients of parameters that no group has are clipped."""
        return self._groups[0].clipping

    def has_gradient_clipping(self) -> bool:
        """Whether any gradients are clipped."""
        return any(group.clipping is not None for group in self._groups)

    def step(
        self,
        lr: float | Rates,
        module: M,
        grads: GradientsParams,
        *,
        on_nonfinite: NonFinite = "raise",
    ) -> M:
        """Update a module's parameters, all or none, and return the module. ``grads`` is empty afterwards.

        Values are changed where they lie if nobody else holds them; what was read from them before stays as it was.
        Records, copies and files that other threads make meanwhile have all of the step or nothing of it
        (``burnpy.module.between_steps``).

        Args:
            lr: the learning rate, or the rates of groups that ``ModuleLrScheduler.step`` gives.
            module: whose parameters are updated.
            grads: the gradients; those of other parameters are dropped.
            on_nonfinite: what is done if a norm that gradients are clipped by is infinite or NaN: ``"raise"``,
                ``"skip"`` the whole step, or ``"propagate"`` it into the parameters.

        Raises:
            NonFiniteGradientError: there is such a norm, and ``on_nonfinite`` is ``"raise"``.
            ShapeError, DTypeError: a gradient does not fit its parameter.
            ValueError: ``lr`` is negative or not finite.
        """
        if not isinstance(grads, GradientsParams):
            raise TypeError(f"grads must be GradientsParams, got {grads!r}; see GradientsParams.from_grads")
        parameters = parameters_of(module)
        gradients = grads._all_of(parameters.keys)
        self._apply(lr, parameters, gradients or grads._of(parameters.keys), gradients is None, on_nonfinite)
        grads._clear()
        return module

    def step_multi(
        self,
        lr: float | Rates,
        module: M,
        grads: MultiGradientsParams,
        *,
        on_nonfinite: NonFinite = "raise",
    ) -> M:
        """:meth:`step` with the gradients of several replicas, summed."""
        if not isinstance(grads, MultiGradientsParams):
            raise TypeError(f"grads must be MultiGradientsParams, got {grads!r}")
        parameters = parameters_of(module)
        found = [grads.remove(id) for id in parameters.ids]
        self._apply(lr, parameters, [pair and pair[0] for pair in found], True, on_nonfinite)
        return module

    def _apply(
        self,
        lr: float | Rates,
        parameters: Parameters,
        gradients: Sequence[Tensor | None],
        some_missing: bool,
        on_nonfinite: NonFinite,
    ) -> None:
        if on_nonfinite not in _NON_FINITE:
            raise ValueError(f"on_nonfinite must be one of {_NON_FINITE}, got {on_nonfinite!r}")
        groups, rates = _rates(lr)
        plan = self._plan
        if plan is None or not plan.fits(parameters, groups):
            with STEP:
                plan = self._plan = self._planned(parameters, groups)
        if plan.clipped:
            clipped = _clipped(plan, gradients, on_nonfinite)
            if clipped is None:
                return
            gradients = clipped
        if len(plan.runs) == 1 and not some_missing and isinstance(plan.runs[0].optimizer, FusedOptimizer):
            with STEP:
                plan.runs[0].update(gradients, rates[plan.runs[0].rate])  # type: ignore[arg-type]
            return
        picked = [run.picked(gradients) for run in plan.runs]
        for run, found in picked:
            run.check(found)
        fused = [pair for pair in picked if isinstance(pair[0].optimizer, FusedOptimizer)]
        others = [pair for pair in picked if not isinstance(pair[0].optimizer, FusedOptimizer)]
        # These may fail, so they come first and are not done before all are computed.
        computed = [run.computed(found, rates[run.rate]) for run, found in others]
        with STEP:
            for run, found in fused:
                run.update(found, rates[run.rate])
            for done in computed:
                done()

    def _planned(self, parameters: Parameters, groups: Sequence[ParamGroup]) -> Plan:
        contexts, winners = [], []
        for id, key, path, cell in zip(
            parameters.ids, parameters.keys, parameters.paths, parameters.cells, strict=True
        ):
            context = self._contexts.get(key)
            if context is None or context.is_fresh():
                context = self._context(id, path)
            context.bind(path, cell.get())
            contexts.append(context)
            winners.append(_last_match(groups, id, path))
        self._contexts |= zip(parameters.keys, contexts, strict=True)
        return Plan(parameters, contexts, groups, winners)

    def _group_of(self, id: ParamId, path: str | None) -> _Group:
        matching = (group for group in reversed(self._groups) if group.group.matches(id, path))
        return next(matching, self._groups[0])

    def _context(self, id: ParamId, path: str | None, rank: int = 0, state: Any = None) -> Context:
        _, optimizer, clipping = self._group_of(id, path)
        return Context(optimizer, clipping, path, rank, state)

    def clone(self) -> ModuleOptimizer:
        """Another optimizer with the same groups that goes on from the same states.

        Cost: none of the size of the states; memory is shared until one of them changes.
        """
        copy = ModuleOptimizer(self._groups[0].optimizer)
        copy._groups = list(self._groups)
        with STEP:
            copy._contexts = {key: context.clone() for key, context in self._contexts.items()}
        return copy

    def __getstate__(self) -> tuple[Any, ...]:
        return self._groups, self._contexts

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._groups, self._contexts = state
        self._plan = None

    def to_record(self) -> OptimizerRecord:
        """The states of all parameters, in the order of the module; from any thread, and never half a step.

        Cost: none of their size; later steps do not show in the record.
        """
        from burnpy.record import OptimizerRecord

        keys = dict.fromkeys([*(self._plan.parameters.keys if self._plan else ()), *self._contexts])
        found = [(ParamId(key), self._contexts[key]) for key in keys if key in self._contexts]
        with STEP:
            return OptimizerRecord.from_states(
                (id, context.path, context.rank, state)
                for id, context in found
                if (state := context.recorded()) is not None
            )

    def load_record(self, record: OptimizerRecord, *, strict: bool = False) -> Self:
        """Go on from the states of a record, instead of all that is remembered now. Returns itself.

        States are taken by id: load the module's record first, which restores the ids. Each goes to the last group
        that matches its id and recorded path. What does not fit starts anew, and is warned of.

        Args:
            record: the record.
            strict: raise where there would be a warning.

        Raises:
            RecordError: the record contradicts itself, or something was left over and ``strict``; nothing has changed.
            TypeError: it is no record of an optimizer.
        """
        from burnpy.record import OptimizerRecord

        loaded = OptimizerRecord.expect(record).load_states(
            lambda id, path: self._group_of(id, path).optimizer.State, strict=strict
        )
        contexts = {
            state.id.val(): self._context(state.id, state.path, state.rank, state.state) for state in loaded
        }
        order = dict.fromkeys(name.partition(".")[0] for name in [*record.keys(), *record.scalars()])
        # A record that is loaded and saved keeps its order.
        keys = {str(key): key for key in contexts}
        self._contexts = {keys[name]: contexts[keys[name]] for name in order if name in keys} | contexts
        self._plan = None
        return self

    def save(self, path: PathLike, **options: Any) -> None:
        """Write the record to a file; see ``OptimizerRecord.save``."""
        self.to_record().save(path, **options)

    def load(self, path: PathLike, *, strict: bool = False) -> Self:
        """:meth:`load_record` of a file."""
        from burnpy.record import OptimizerRecord

        return self.load_record(OptimizerRecord.load(path), strict=strict)

    def into_bytes(self) -> bytes:
        """The record's file in memory."""
        return self.to_record().into_bytes()

    def from_bytes(self, data: Any, *, strict: bool = False) -> Self:
        """:meth:`load_record` of a file in memory."""
        from burnpy.record import OptimizerRecord

        return self.load_record(OptimizerRecord.from_bytes(data), strict=strict)

    def __repr__(self) -> str:
        rules = ", ".join(type(group.optimizer).__name__ for group in self._groups)
        return f"ModuleOptimizer({rules})"


def _group(group: Any, optim: Any, clipping: Any) -> _Group:
    if not isinstance(optim, Optimizer):
        hint = "; give what build() returns, not init()" if isinstance(optim, ModuleOptimizer) else ""
        raise TypeError(f"optim must be an Optimizer, got {optim!r}{hint}")
    return _Group(ParamGroup.expect(group), optim, _clipping(clipping))


def _clipping(clipping: Any) -> GradientClipping | None:
    if isinstance(clipping, GradientClippingConfig):
        return clipping.init()
    if clipping is not None and not isinstance(clipping, GradientClipping):
        raise TypeError(f"grad_clipping must be a GradientClipping or None, got {clipping!r}")
    return clipping


def _rates(lr: float | Rates) -> tuple[Sequence[ParamGroup], Sequence[float]]:
    groups = getattr(lr, "groups", None)
    if groups is None:
        return (), (learning_rate(lr),)
    if len(groups) == 1:
        group, rate = groups[0]
        return (group,), (learning_rate(rate),)
    return [group for group, _ in groups], [learning_rate(rate) for _, rate in groups]


def _last_match(groups: Sequence[ParamGroup], id: ParamId, path: str) -> int:
    if not groups:
        return 0
    for i in reversed(range(len(groups))):
        if groups[i].matches(id, path):
            return i
    raise ValueError(f"lr: no group has the parameter {path}")


def _clipped(
    plan: Plan, gradients: Sequence[Tensor | None], on_nonfinite: NonFinite
) -> list[Tensor | None] | None:
    """The gradients, clipped; ``None`` if the step is to be skipped."""
    new = list(gradients)
    for clipping, places in plan.clipped.items():
        present = [(place, grad) for place in places if (grad := gradients[place]) is not None]
        clipped = clipping.clip_all([grad for _, grad in present], on_nonfinite)
        if present and not clipped:
            return None
        for (place, _), grad in zip(present, clipped, strict=True):
            new[place] = grad
    return new
