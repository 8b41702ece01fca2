"""L-BFGS."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from burnpy._core import Tensor
from burnpy.config import KW_ONLY, Config, NonNegative, none_as_default
from burnpy.errors import ConfigError
from burnpy.optim.flat_parameters import FlatParameters
from burnpy.optim.gradients_params import GradientsParams
from burnpy.optim.hyper import check, learning_rate, not_negative
from burnpy.optim.lbfgs_iteration import LBFGSIteration, LBFGSState
from burnpy.optim.parameters import parameters_of

if TYPE_CHECKING:
    from typing import TypeVar

    from burnpy._core import Device
    from burnpy._typing import PathLike
    from burnpy.module import Module
    from burnpy.record import OptimizerRecord

    M = TypeVar("M", bound=Module)

__all__ = ["LBFGS", "LBFGSConfig", "LBFGSState", "LineSearchFn"]


class LineSearchFn(enum.Enum):
    """How far a step goes: by the learning rate (``None_``), or as far as the strong Wolfe conditions accept.

    Source: Burn ``optim::LineSearchFn``.
    """

    None_ = "None"
    StrongWolfe = "StrongWolfe"


class LBFGSConfig(Config):
    """Configuration of :class:`LBFGS`.

    Args:
        max_iter: how many directions a step tries at most.
        history_size: how many pairs of changes are remembered.
        tolerance_grad: a step ends if no element of the gradient is larger.
        tolerance_change: a step ends if neither the loss nor any parameter changes by more.
        max_eval: how often the closure is called at most, by default 5/4 of ``max_iter``; a line search may exceed it.
        line_search_fn: a :class:`LineSearchFn` or its name, ``None`` for none.

    Raises:
        ConfigError: from :meth:`init`, if ``max_eval`` or ``history_size`` is 0 or a tolerance negative.

    Source: Burn ``optim::LBFGSConfig``.
    """

    _: KW_ONLY
    max_iter: NonNegative = 20
    history_size: NonNegative = 100
    tolerance_grad: float = 1e-7
    tolerance_change: float = 1e-9
    max_eval: NonNegative | None = none_as_default()
    line_search_fn: LineSearchFn = LineSearchFn.None_

    def __post_init__(self) -> None:
        function: Any = self.line_search_fn
        if function is None or isinstance(function, str):
            object.__setattr__(self, "line_search_fn", _named("None" if function is None else function))
        super().__post_init__()

    def init(self) -> LBFGS:
        """The optimizer."""
        check("LBFGSConfig", not_negative, tolerance_grad=self.tolerance_grad)
        check("LBFGSConfig", not_negative, tolerance_change=self.tolerance_change)
        check("LBFGSConfig", (lambda x: x >= 1, "be at least 1"), history_size=self.history_size)
        check("LBFGSConfig", (lambda x: x >= 1, "be at least 1"), max_eval=self.max_eval)
        return LBFGS(self)


def _named(name: str) -> LineSearchFn:
    try:
        return LineSearchFn(name)
    except ValueError:
        known = ", ".join(member.value for member in LineSearchFn)
        raise ConfigError(f"LBFGSConfig: line_search_fn must be one of {known}, got {name!r}") from None


class LBFGS:
    """Steps along ``−H·g`` with ``H`` an estimate of the inverse curvature from the last changes of gradients.

    It computes the loss many times in a step, so it takes a closure, and all of the data. It is no :class:`Optimizer`:
    it serves no groups, and has neither weight decay nor clipping. Parameters without a gradient stay as they are.

    Cost: ``2·history_size`` vectors of the size of all parameters, which must have one dtype.

    Example:
        >>> from burnpy.module import Module, Param
        >>> class Line(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([0.5]))
        ...         self.bias = Param.from_tensor(Tensor([0.1]))
        >>> x, y = Tensor([1.0, 2.0, 3.0]), Tensor([3.0, 5.0, 7.0])
        >>> def closure(model):
        ...     loss = (x * model.weight.val() + model.bias.val() - y).square().sum()
        ...     return loss.item(), GradientsParams.from_grads(loss.backward(), model)
        >>> optim = LBFGSConfig(line_search_fn="StrongWolfe").init()
        >>> model = Line()
        >>> for _ in range(3):
        ...     model, loss = optim.step(1.0, model, closure)
        >>> round(model.weight.val().item(), 3), round(model.bias.val().item(), 3)
        (2.0, 1.0)

    Source: Burn ``optim::LBFGS``; Nocedal & Wright 2006, algorithm 7.5.
    """

    def __init__(self, config: LBFGSConfig | None = None) -> None:
        self.config = config or LBFGSConfig()
        self.state = LBFGSState([], [])

    def step(
        self, lr: float, module: M, closure: Callable[[M], tuple[float | Tensor, GradientsParams]]
    ) -> tuple[M, float]:
        """Several iterations; the module, which has changed, and the loss after them.

        Args:
            lr: how far a step goes without a line search, and where a line search begins.
            module: whose parameters are updated.
            closure: the loss at a module, and its gradients.

        Raises:
            ValueError: ``lr`` is negative or not finite.
            ShapeError: the state is that of other parameters.
            Exception: what the closure raises; module and state are as they were then.
        """
        lr = learning_rate(lr)
        parameters = parameters_of(module)
        if not parameters.cells:
            return module, float(closure(module)[0])
        flat = FlatParameters(parameters, lambda: closure(module))
        try:
            self.state, loss = LBFGSIteration(self.config, self.state, flat, lr).run()
        except BaseException:
            flat.restore()
            raise
        return module, loss

    def to_device(self, device: Device) -> Self:
        """Itself: there is one device."""
        return self

    def to_record(self) -> OptimizerRecord:
        """The state, under names without ids of parameters."""
        from burnpy.record import OptimizerRecord

        return OptimizerRecord.from_state(self.state)

    def load_record(self, record: OptimizerRecord, *, strict: bool = False) -> Self:
        """Go on from the state of a record, or stay as it is, with a warning, if that lacks something. Returns itself.

        Raises:
            RecordError: it lacks something or has more, and ``strict``.
        """
        state = record.into_state(LBFGSState, strict=strict)
        self.state = self.state if state is None else state
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
