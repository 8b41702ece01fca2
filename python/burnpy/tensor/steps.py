"""A sequence cut into its steps."""

from __future__ import annotations

from burnpy._core import Tensor, apply_function

__all__ = ["steps"]


def steps(x: Tensor) -> list[Tensor]:
    """The places along axis 0 one by one, which keeps size 1: ``iter_dim(0)`` for long sequences.

    Gradients of all steps are put together once. Those of ``iter_dim`` are tensors of the whole size, one for each
    step, which makes a sequence quadratic in its length.

    Raises:
        ShapeError: ``x`` has no axes.

    Example:
        >>> [step.tolist() for step in steps(Tensor([[1.0], [2.0]]))]
        [[[1.0]], [[2.0]]]
    """
    pieces = x.detach().iter_dim(0)
    if not x.is_tracked() or len(pieces) < 2:
        return x.iter_dim(0)
    zeros = pieces[0].inner().zeros_like()
    found = [zeros] * len(pieces)
    # All steps hang on a tensor without elements, whose own gradient is thus asked for after those of all steps.
    none = Tensor.zeros((0,), x.device.inner(), dtype=x.dtype)
    anchor = apply_function("steps", [x], none, lambda _: (Tensor.cat(found, 0),))

    def step(i: int) -> Tensor:
        def backward(gradient: Tensor) -> tuple[Tensor]:
            found[i] = gradient
            return (none,)

        return apply_function("step", [anchor], pieces[i].inner(), backward)

    return [step(i) for i in range(len(pieces))]
