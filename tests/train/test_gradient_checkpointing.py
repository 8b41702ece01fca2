"""Parts of a model that are computed again in the backward: the same bits, less memory."""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import burnpy as bp
from burnpy import Tensor, autodiff, nn, optim
from burnpy.autodiff import checkpoint, checkpointed, gradient_checkpointing, is_recomputing
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.nn.transformer import (
    TransformerDecoderConfig,
    TransformerDecoderInput,
    TransformerEncoderConfig,
    TransformerEncoderInput,
)
from burnpy.train import ClassificationOutput, ExecutionStrategy, Learner, TrainOutput
from tests.paths import ROOT
from tests.train.toy import learner, training


class Block(bp.Module):
    """Everything that could differ when it is computed again, with another marked part in it."""

    def __init__(self) -> None:
        self.fc = nn.LinearConfig(4, 4).init()
        self.norm = nn.BatchNormConfig(4).init()
        self.dropout = nn.DropoutConfig(0.4).init()

    @checkpointed
    def forward(self, x: Tensor, *, scale: float) -> Tensor:
        return x + self.inner(x) * scale

    @checkpointed
    def inner(self, x: Tensor) -> Tensor:
        return self.dropout(self.norm(self.fc(x)).tanh())


class Deep(bp.Module):
    def __init__(self) -> None:
        self.blocks = [Block(), Block()]
        # One more time, so that its gradients come from two parts.
        self.tied = self.blocks[0]
        self.head = nn.LinearConfig(4, 3).init()
        self.loss = CrossEntropyLossConfig().init()

    def valid_step(self, batch: Any) -> ClassificationOutput:
        x, y = batch
        for block in [*self.blocks, self.tied]:
            x = block(x, scale=0.5)
        output = self.head(x)
        return ClassificationOutput(self.loss(output, y), output, y)

    def train_step(self, batch: Any) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def deep() -> Learner:
    bp.manual_seed(3)
    return Learner(Deep(), optim.AdamWConfig().init(), 0.05)


def outcome(folder: Path, of: Learner, **options: Any) -> tuple[Any, list[Any]]:
    result = training(folder, epochs=3, **options).launch(of)
    record = result.model.into_record()
    return result.history, [record[path].tolist() for path in record]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"grads_accumulation": 2},
        {"training_strategy": ExecutionStrategy.multi(2, num_shards=2)},
    ],
    ids=["alone", "accumulated", "two ranks"],
)
def test_a_training_has_the_same_numbers_to_the_bit(options: dict[str, Any], tmp_path: Path) -> None:
    plain = outcome(tmp_path / "plain", deep(), **options)
    assert outcome(tmp_path / "again", deep(), gradient_checkpointing=True, **options) == plain


def test_a_run_may_go_on_with_the_other_choice(tmp_path: Path) -> None:
    plain = outcome(tmp_path / "plain", deep())
    training(tmp_path / "half", epochs=1, gradient_checkpointing=True).launch(deep())
    assert outcome(tmp_path / "half", deep(), resume="latest") == plain


def of_encoder() -> Callable[[Tensor], Tensor]:
    encoder = TransformerEncoderConfig(8, 16, 2, 2, dropout=0.3).init()
    pad = Tensor([[False, False, True], [False, False, False]])
    return lambda x: encoder(TransformerEncoderInput(x, pad=pad))


def of_decoder() -> Callable[[Tensor], Tensor]:
    decoder = TransformerDecoderConfig(8, 16, 2, 2, dropout=0.3, norm_first=True).init()
    return lambda x: decoder(TransformerDecoderInput(x, x * 2.0))


@pytest.mark.parametrize("make", [of_encoder, of_decoder])
def test_layers_of_transformers_are_parts(make: Callable[[], Callable[[Tensor], Tensor]]) -> None:
    def run(scope: Any) -> tuple[Any, ...]:
        bp.manual_seed(1)
        model, x = make(), Tensor.random((2, 3, 8)).require_grad()
        middle = x * 1.0
        with scope:
            y = model(middle) * middle
        gradient = x.grad(y.sum().backward())
        assert gradient is not None
        return y.tolist(), gradient.tolist(), Tensor.random((3,)).tolist()

    on = gradient_checkpointing()
    assert run(on) == run(nullcontext())
    assert on.parts == 2


def test_a_model_without_a_part_is_trained_as_before_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plain = outcome(tmp_path / "plain", learner())
    again = training(tmp_path / "again", epochs=3).gradient_checkpointing().launch(learner())
    assert again.history == plain[0]
    told = [text for text in caplog.messages if "gradient_checkpointing changes nothing" in text]
    assert told == [
        "gradient_checkpointing changes nothing: no part of Toy is marked with burnpy.autodiff.checkpointed"
    ]


# ---- by hand


def test_a_part_is_computed_again_where_it_is_on_and_in_that_thread_alone() -> None:
    calls: list[bool] = []

    @checkpointed
    def square(x: Tensor) -> Tensor:
        calls.append(is_recomputing())
        return x * x

    x = Tensor([3.0]).require_grad()

    def count() -> list[bool]:
        calls.clear()
        assert x.grad(square(x).backward()).tolist() == [6.0]  # type: ignore[union-attr]
        return list(calls)

    assert count() == [False]
    with gradient_checkpointing() as outer:
        assert count() == [False, True]
        with gradient_checkpointing() as inner:
            assert count() == [False, True]
        thread = threading.Thread(target=count)
        thread.start()
        thread.join()
        assert calls == [False]
        with autodiff.no_grad():
            assert not square(x).is_tracked()
    assert (outer.parts, inner.parts) == (2, 1)
    assert count() == [False] and not is_recomputing()


def test_a_part_within_a_part_is_run_for_each() -> None:
    calls: list[str] = []

    def inner(x: Tensor) -> Tensor:
        calls.append("inner")
        return x * x

    def outer(x: Tensor) -> Tensor:
        calls.append("outer")
        return checkpoint(inner, x) * x

    x = Tensor([2.0]).require_grad()
    assert x.grad(checkpoint(outer, x).backward()).tolist() == [12.0]  # type: ignore[union-attr]
    assert calls == ["outer", "inner", "outer", "inner", "inner"]


def test_what_is_no_tensor_is_refused_by_name() -> None:
    @checkpointed
    def pair(x: Tensor) -> Any:
        return x, x

    x = Tensor([1.0]).require_grad()
    assert len(pair(x)) == 2
    with (
        gradient_checkpointing(),
        pytest.raises(TypeError, match=r"pair: what is checkpointed must return one tensor"),
    ):
        pair(x)


def test_an_error_in_the_backward_leaves_nothing_on() -> None:
    calls: list[int] = []

    def fails_again(x: Tensor) -> Tensor:
        calls.append(1)
        if len(calls) == 2:
            raise LookupError("again")
        return x * x

    with pytest.raises(LookupError, match="again"):
        checkpoint(fails_again, Tensor([1.0]).require_grad()).backward()
    assert not is_recomputing()


PEAK = """
import sys
import burnpy as bp
from burnpy import Tensor
from burnpy.autodiff import gradient_checkpointing
from burnpy.nn.transformer import TransformerEncoderConfig, TransformerEncoderInput
from contextlib import nullcontext
encoder = TransformerEncoderConfig(64, 256, 4, 12).init()
x = Tensor.random((8, 128, 64)).require_grad()
for _ in range(2):
    with gradient_checkpointing() if sys.argv[1] == "on" else nullcontext():
        loss = encoder(TransformerEncoderInput(x)).sum()
    loss.backward()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the peak from")
def test_the_peak_of_memory_is_lower() -> None:
    def peak(on: str) -> int:
        told = subprocess.run(
            [sys.executable, "-c", PEAK, on], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return int(told.stdout)

    without, within = peak("off"), peak("on")
    # Twelve layers of some 10 MB each, of which one is there at a time.
    assert within < without - 40, (within, without)
