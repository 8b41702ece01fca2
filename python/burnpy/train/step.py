"""What a model does in one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from burnpy.optim import GradientsParams

if TYPE_CHECKING:
    from burnpy.autodiff import Gradients
    from burnpy.module import Module

__all__ = ["InferenceStep", "TrainOutput", "TrainStep", "inference_step_of", "train_step_of"]


class TrainOutput:
    """What a training step gives: gradients by parameter, and the item that metrics read.

    Args:
        module: whose parameters the gradients are sought of.
        grads: what ``loss.backward()`` gave.
        item: the output, for the metrics.

    Attributes:
        grads: ``GradientsParams``.
        item: as given.

    Source: Burn ``train::TrainOutput``.
    """

    __slots__ = ("grads", "item")

    def __init__(self, module: Module, grads: Gradients | GradientsParams, item: Any) -> None:
        self.grads = (
            grads if isinstance(grads, GradientsParams) else GradientsParams.from_grads(grads, module)
        )
        self.item = item


@runtime_checkable
class TrainStep(Protocol):
    """A model that trains.

    It may also have ``optimize(optim, lr, grads)``, which makes the update and returns the model; by default that is
    ``optim.step(lr, self, grads)``.

    Source: Burn ``train::TrainStep``.
    """

    def train_step(self, batch: Any, /) -> TrainOutput:
        """Forward and backward."""


@runtime_checkable
class InferenceStep(Protocol):
    """A model that is validated. Called on ``model.valid()``.

    Source: Burn ``train::InferenceStep``.
    """

    def valid_step(self, batch: Any, /) -> Any:
        """The item that metrics read."""


def train_step_of(model: Any) -> Any:
    """The method of a model that makes a training step.

    Raises:
        TypeError: it has none, or is a class.
    """
    return _method(model, ("train_step",), "train_step(batch) -> TrainOutput")


def inference_step_of(model: Any) -> Any:
    """The method of a model that makes a validation step.

    Raises:
        TypeError: it has none, or is a class.
    """
    return _method(model, ("valid_step", "inference_step"), "valid_step(batch) -> item")


def _method(model: Any, names: tuple[str, ...], wanted: str) -> Any:
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}: make one, {model.__name__}(...)")
    for name in names:
        method = getattr(model, name, None)
        if callable(method):
            return method
    raise TypeError(f"{type(model).__name__} has no method {wanted}")
