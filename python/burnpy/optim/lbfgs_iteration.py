"""The iterations of L-BFGS on one vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnpy._core import Tensor
from burnpy.errors import ShapeError
from burnpy.optim.line_search import Point, strong_wolfe
from burnpy.record.state import Float, RecordState, UInt

if TYPE_CHECKING:
    from burnpy.optim.flat_parameters import FlatParameters
    from burnpy.optim.lbfgs import LBFGSConfig

__all__ = ["LBFGSIteration", "LBFGSState"]


class LBFGSState(RecordState):
    """What :class:`LBFGS` remembers: changes of parameters and of gradients, the last step, and iterations so far."""

    history_s: list[Tensor]
    history_y: list[Tensor]
    d: Tensor | None = None
    t: Float | None = 1.0
    prev_flat_grad: Tensor | None = None
    prev_loss: Float | None = None
    g_iter: UInt = 0


class LBFGSIteration:
    """The iterations of one step; the state that it begins with stays as it is."""

    def __init__(self, config: LBFGSConfig, state: LBFGSState, flat: FlatParameters, lr: float) -> None:
        self._config = config
        self._state = _fitted(state, flat.x)
        self._flat = flat
        self._lr = lr
        self._x = flat.x
        self._changes = list(zip(self._state.history_s, self._state.history_y, strict=True))
        self._g_iter = state.g_iter
        self._max_eval = config.max_iter * 5 // 4 if config.max_eval is None else config.max_eval

    def run(self) -> tuple[LBFGSState, float]:
        """The state and the loss afterwards. The parameters are where the loss was computed last, or accepted."""
        self._loss, self._gradient, self._missing = self._flat.evaluate()
        if _largest(self._gradient) <= self._config.tolerance_grad:
            return self._state, self._loss
        self._d = -self._gradient if self._state.d is None else self._state.d
        self._t = self._lr if self._state.t is None else self._state.t
        self._past = self._state.prev_flat_grad
        evaluations = 1
        for _ in range(self._config.max_iter):
            self._g_iter += 1
            self._turn()
            past_loss, self._past = self._loss, self._gradient
            self._t = self._lr
            if self._g_iter == 1:
                self._t = min(1.0, 1.0 / self._gradient.abs().sum().item()) * self._lr
            slope = _dot(self._gradient, self._d)
            if slope > -self._config.tolerance_change:
                break
            evaluations += self._move(slope, self._max_eval - evaluations)
            if evaluations >= self._max_eval or self._is_done(past_loss):
                break
        return self._after(), self._loss

    def _is_done(self, past_loss: float) -> bool:
        change = self._config.tolerance_change
        return (
            _largest(self._gradient) <= self._config.tolerance_grad
            or _largest(self._d * self._t) <= change
            or abs(self._loss - past_loss) < change
        )

    def _after(self) -> LBFGSState:
        return LBFGSState(
            [s for s, _ in self._changes],
            [y for _, y in self._changes],
            self._d,
            self._t,
            self._past,
            self._loss,
            self._g_iter,
        )

    def _turn(self) -> None:
        """The next direction."""
        if self._g_iter == 1 or self._past is None:
            if self._g_iter == 1:
                self._changes.clear()
            self._d = -self._gradient if self._g_iter == 1 else self._newton()
        else:
            y, s = self._gradient - self._past, self._d * self._t
            if _dot(y, s) > 1e-10:
                self._changes = [*self._changes, (s, y)][-self._config.history_size :]
            self._d = self._newton()
        if self._missing is not None:
            self._d = self._d.mask_fill(self._missing, 0.0)

    def _newton(self) -> Tensor:
        """``−H·g``, by the two loops over the changes."""
        q = -self._gradient
        if not self._changes:
            return q
        weights = []
        for s, y in reversed(self._changes):
            rho = y.dot(s).recip()
            alpha = rho * s.dot(q)
            q = q - y * alpha
            weights.append((rho, alpha))
        s, y = self._changes[-1]
        r = q * (y.dot(s) / y.dot(y))
        for (s, y), (rho, alpha) in zip(self._changes, reversed(weights), strict=True):
            r = r + s * (alpha - rho * y.dot(r))
        return r

    def _move(self, slope: float, evaluations_left: int) -> int:
        """One step along the direction; how often the loss was computed."""
        from burnpy.optim.lbfgs import LineSearchFn  # that module knows this one

        if self._config.line_search_fn is LineSearchFn.None_:
            end, evaluations = self._point(self._t), 1
        else:
            end, evaluations = strong_wolfe(
                self._point,
                Point(0.0, self._loss, self._gradient, slope),
                self._t,
                longest=_largest(self._d),
                max_ls=evaluations_left,
                tolerance_change=self._config.tolerance_change,
            )
            self._flat.place(self._x + self._d * end.t)
        self._x = self._x + self._d * end.t
        self._t, self._loss, self._gradient = end.t, end.loss, end.gradient
        return evaluations

    def _point(self, t: float) -> Point:
        self._flat.place(self._x + self._d * t)
        loss, gradient, self._missing = self._flat.evaluate()
        return Point(t, loss, gradient, _dot(gradient, self._d))


def _dot(a: Tensor, b: Tensor) -> float:
    product: float = a.dot(b).item()
    return product


def _largest(tensor: Tensor) -> float:
    largest: float = tensor.max_abs().item()
    return largest


def _fitted(state: LBFGSState, x: Tensor) -> LBFGSState:
    """The state in the dtype of the parameters.

    Raises:
        ShapeError: it is that of other parameters.
    """
    tensors = [*state.history_s, *state.history_y, state.d, state.prev_flat_grad]
    wrong = [tensor.shape for tensor in tensors if tensor is not None and tensor.shape != x.shape]
    if wrong or len(state.history_s) != len(state.history_y):
        raise ShapeError(
            f"lbfgs: the state is that of other parameters: it has tensors of shape {[*wrong]}, "
            f"{len(state.history_s)} and {len(state.history_y)} changes; the parameters have {x.shape}"
        )
    return LBFGSState(
        [s.cast(x.dtype) for s in state.history_s],
        [y.cast(x.dtype) for y in state.history_y],
        None if state.d is None else state.d.cast(x.dtype),
        state.t,
        None if state.prev_flat_grad is None else state.prev_flat_grad.cast(x.dtype),
        state.prev_loss,
        state.g_iter,
    )
