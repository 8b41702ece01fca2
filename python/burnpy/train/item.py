"""What a training or validation step gives out for the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

from burnpy.tensor import Tensor
from burnpy.train.metric import (
    AccuracyInput,
    CerInput,
    ConfusionStatsInput,
    HammingScoreInput,
    LossInput,
    PerplexityInput,
    TopKAccuracyInput,
    WerInput,
)

__all__ = [
    "PLAIN_ITEMS",
    "ClassificationOutput",
    "ItemLazy",
    "MultiLabelClassificationOutput",
    "RegressionOutput",
    "SequenceOutput",
]

_Adaptors: TypeAlias = Mapping[type[Any], Callable[[Any], Any]]
I = TypeVar("I")  # noqa: E741  # Burn's letter for inputs


class ItemLazy:
    """Base of output items: it knows how to become the inputs of metrics.

    An item of your own sets ``adaptors``, or has methods of the same names and no base at all.

    Example:
        >>> @dataclass
        ... class Batch(ItemLazy):
        ...     scores: Tensor
        ...     labels: Tensor
        ...     adaptors = {AccuracyInput: lambda item: AccuracyInput(item.scores, item.labels)}
        >>> Batch(Tensor([[0.1, 0.9]]), Tensor([1])).adapt(AccuracyInput).targets.tolist()
        [1]

    Source: Burn ``train::ItemLazy``, ``train::metric::Adaptor``.
    """

    adaptors: ClassVar[_Adaptors] = {}

    def adapt(self, input_type: type[I] | None) -> I:
        """The input of a metric; ``None`` for metrics that read only the metadata.

        Raises:
            TypeError: there is none of this type; the message names those that there are.
        """
        adaptor = self.adaptors.get(input_type)  # type: ignore[arg-type]
        if adaptor is None:
            if input_type is None or input_type is type(None):
                return cast(I, None)
            names = ", ".join(sorted(kind.__name__ for kind in self.adaptors)) or "no input at all"
            raise TypeError(f"{type(self).__name__} does not adapt to {input_type.__name__}, only to {names}")
        return adaptor(self)  # type: ignore[no-any-return]

    def sync(self) -> Self:
        """The same item with all its tensors off their graphs, which can be freed then."""
        synced = object.__new__(type(self))
        fields = synced.__dict__
        for name, value in self.__dict__.items():
            fields[name] = value.inner() if isinstance(value, Tensor) else value
        return synced


def _loss(item: Any) -> LossInput:
    return LossInput(item.loss)


def _plain(kind: type[I]) -> Callable[[Any], I]:
    return lambda item: kind(item.output, item.targets)  # type: ignore[call-arg]


def _one_hot(item: ClassificationOutput) -> ConfusionStatsInput:
    classes = item.output.shape[1]
    if classes == 1:
        return ConfusionStatsInput(item.output, item.targets.reshape(-1, 1).not_equal(0))
    return ConfusionStatsInput(item.output, item.targets.one_hot(classes).not_equal(0))


@dataclass
class ClassificationOutput(ItemLazy):
    """Of a model that tells one class of several.

    Metrics with a threshold compare it with ``output`` as it is, logits or probabilities.

    Shapes:
        loss: ``(1,)``
        output: ``(batch, classes)``; one column for two classes
        targets: int ``(batch,)``

    Raises:
        TensorIndexError: by ``adapt(ConfusionStatsInput)``: a target is no class.

    Example:
        >>> item = ClassificationOutput(Tensor([0.3]), Tensor([[0.2, 0.8]]), Tensor([1]))
        >>> item.adapt(ConfusionStatsInput).targets.tolist()
        [[False, True]]

    Source: Burn ``train::ClassificationOutput``.
    """

    loss: Tensor
    output: Tensor
    targets: Tensor
    adaptors: ClassVar[_Adaptors] = {
        LossInput: _loss,
        AccuracyInput: _plain(AccuracyInput),
        TopKAccuracyInput: _plain(TopKAccuracyInput),
        PerplexityInput: _plain(PerplexityInput),
        ConfusionStatsInput: _one_hot,
    }


@dataclass
class MultiLabelClassificationOutput(ItemLazy):
    """Of a model that tells for each label whether it holds.

    Shapes:
        loss: ``(1,)``
        output: ``(batch, labels)``
        targets: int ``(batch, labels)``, 0 where a label does not hold

    Source: Burn ``train::MultiLabelClassificationOutput``.
    """

    loss: Tensor
    output: Tensor
    targets: Tensor
    adaptors: ClassVar[_Adaptors] = {
        LossInput: _loss,
        HammingScoreInput: _plain(HammingScoreInput),
        ConfusionStatsInput: _plain(ConfusionStatsInput),
    }


@dataclass
class RegressionOutput(ItemLazy):
    """Of a model that tells numbers; there is a metric of its loss alone.

    Shapes:
        loss: ``(1,)``
        output: ``(batch, numbers)``
        targets: float ``(batch, numbers)``

    Source: Burn ``train::RegressionOutput``.
    """

    loss: Tensor
    output: Tensor
    targets: Tensor
    adaptors: ClassVar[_Adaptors] = {LossInput: _loss}


def _tokens(kind: type[I]) -> Callable[[SequenceOutput], I]:
    def adapt(item: SequenceOutput) -> I:
        vocabulary = item.logits.shape[-1]
        return kind(item.logits.reshape(-1, vocabulary), item.targets.reshape(-1))  # type: ignore[call-arg]

    return adapt


def _sequences(kind: type[I]) -> Callable[[SequenceOutput], I]:
    def adapt(item: SequenceOutput) -> I:
        best = item.predictions
        if best is None:
            best = item.logits.argmax(2).squeeze_dim(2)
        return kind(best, item.targets)  # type: ignore[call-arg]

    return adapt


@dataclass
class SequenceOutput(ItemLazy):
    """Of a model that tells a token at each place.

    Shapes:
        loss: ``(1,)``
        logits: ``(batch, places, vocabulary)``
        predictions: int ``(batch, places)``, or ``None``: the tokens of the highest logits
        targets: int ``(batch, places)``

    Example:
        >>> item = SequenceOutput(Tensor([0.3]), Tensor([[[0.1, 0.9], [0.8, 0.2]]]), None, Tensor([[1, 1]]))
        >>> item.adapt(WerInput).outputs.tolist(), item.adapt(AccuracyInput).outputs.shape
        ([[1, 0]], (2, 2))

    Source: Burn ``train::SequenceOutput``.
    """

    loss: Tensor
    logits: Tensor
    predictions: Tensor | None
    targets: Tensor
    adaptors: ClassVar[_Adaptors] = {
        LossInput: _loss,
        AccuracyInput: _tokens(AccuracyInput),
        TopKAccuracyInput: _tokens(TopKAccuracyInput),
        PerplexityInput: _tokens(PerplexityInput),
        CerInput: _sequences(CerInput),
        WerInput: _sequences(WerInput),
    }


PLAIN_ITEMS = frozenset({ClassificationOutput, MultiLabelClassificationOutput, RegressionOutput})
"""Items whose adaptors hand their tensors on as they are."""
