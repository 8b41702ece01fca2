"""Gradients beyond ``backward``: custom operations, checkpoints, the scope without a graph.

Example:
    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved
    ...         return grad * x * x * 3.0
    >>> x = Tensor([2.0]).require_grad()
    >>> x.grad(Cube.apply(x).backward()).item()
    12.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from burnpy import _core
from burnpy._core import Gradients, Tensor
from burnpy.errors import AutodiffError
from burnpy.tensor.recompute import checkpoint, checkpointed, gradient_checkpointing, is_recomputing
from burnpy.tensor.recording import no_grad

__all__ = [
    "Context",
    "Function",
    "Gradients",
    "checkpoint",
    "checkpointed",
    "gradient_checkpointing",
    "is_recomputing",
    "no_grad",
]


class Context:
    """What an operation keeps from its forward for its backward. Other attributes may be set at will.

    Attributes:
        needs: for each argument of ``forward``, whether its gradient is wanted; ``False`` for what is no tensor.
        saved: the tensors of ``save``, plain.
    """

    needs: tuple[bool, ...]
    saved: tuple[Tensor, ...] = ()

    def save(self, *tensors: Tensor) -> None:
        """Keeps tensors for ``backward``; their values alone, so that no graph hangs on them."""
        self.saved = tuple(tensor.inner() for tensor in tensors)

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...


class Function:
    """A custom operation: a subclass says what it computes and how gradients go back through it.

    ``apply(*args)`` runs ``forward(ctx, *args)`` without recording. When gradients come, ``backward(ctx, grad)``
    returns one for each argument of ``forward``, ``None`` where there is none; alone where there is one argument. What
    either raises comes out as it is.
    """

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Tensor:
        """The result; ``ctx.save`` keeps tensors for ``backward``."""
        raise NotImplementedError("a Function needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx: Context, grad: Tensor) -> Tensor | tuple[Tensor | None, ...] | None:
        """Gradients of the arguments, from that of the result."""
        raise NotImplementedError("a Function needs a static method backward(ctx, grad)")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """The operation on arguments, of which the tracked tensors get their gradients."""
        ctx = Context()
        ctx.needs = tuple(isinstance(arg, Tensor) and arg.is_tracked() for arg in args)
        with no_grad():
            output = cls.forward(ctx, *args)
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        return _core.apply_function(cls.__name__, tensors, output, _backward_of(cls, ctx, args))


def _backward_of(
    cls: type[Function], ctx: Context, args: tuple[Any, ...]
) -> Callable[[Tensor], tuple[Tensor | None, ...]]:
    is_tensor = [isinstance(arg, Tensor) for arg in args]

    def backward(grad: Tensor) -> tuple[Tensor | None, ...]:
        result = cls.backward(ctx, grad)
        gradients = result if isinstance(result, tuple) else (result,)
        if len(gradients) != len(is_tensor):
            raise AutodiffError(
                f"{cls.__name__}: backward returned {len(gradients)} gradients for {len(is_tensor)} arguments",
                operation=cls.__name__,
            )
        return tuple(gradient for gradient, wanted in zip(gradients, is_tensor, strict=True) if wanted)

    return backward
