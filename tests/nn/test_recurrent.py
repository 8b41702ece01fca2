"""Recurrent layers: Burn's own vectors, directions, states, and what is refused."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import Device, Tensor, nn
from burnpy.errors import ConfigError, ShapeError
from burnpy.module import Initializer, Module
from burnpy.nn import (
    ActivationConfig,
    BiGruConfig,
    BiLstmConfig,
    BiRnnConfig,
    GruConfig,
    LstmConfig,
    LstmState,
    RnnConfig,
    RnnState,
)
from burnpy.tensor import Distribution

PLAIN = Device.cpu()


def _random(*shape: int) -> Tensor:
    return Tensor.random(shape, Distribution.normal(0.0, 1.0), PLAIN)


def _filled(module: Module, weights: dict[str, float]) -> Any:
    """A module of one feature, whose weights are given by gate, and whose biases are 0."""
    for path, param in module.named_params():
        weight = next(value for gate, value in weights.items() if gate in path)
        param.set_base(Tensor.full(param.lazy_shape(), weight if path.endswith("weight") else 0.0))
    return module


LSTM = {"input_gate": 0.5, "forget_gate": 0.7, "cell_gate": 0.9, "output_gate": 1.1}
GRU = {"update_gate": 0.5, "reset_gate": 0.6, "new_gate": 0.7}


def test_an_lstm_of_one_feature() -> None:
    output, state = _filled(LstmConfig(1, 1, True).init(), LSTM).forward(Tensor([[[0.1]]]))
    assert state.cell.item() == pytest.approx(0.0460006, abs=1e-6)
    hidden = math.tanh(0.0460006) / (1 + math.exp(-0.11))
    assert state.hidden.item() == output.item() == pytest.approx(hidden, abs=1e-6)


@pytest.mark.parametrize("reset_after", [True, False])
def test_a_gru_of_one_feature(reset_after: bool) -> None:
    gru = _filled(GruConfig(1, 1, True, reset_after=reset_after).init(), GRU)
    assert gru.forward(Tensor([[[0.1]]])).item() == pytest.approx(0.0341, abs=1e-4)
    found = gru.forward(Tensor([[[0.1], [0.2], [0.3]]])).numpy().ravel()
    np.testing.assert_allclose(found, [0.0341, 0.0894, 0.1575], atol=2e-4)


def test_an_rnn_of_one_feature_in_both_directions() -> None:
    rnn = _filled(RnnConfig(1, 1, True).init(), {"gate": 0.5})
    assert rnn.forward(Tensor([[[0.1]]]))[0].item() == pytest.approx(0.0499584, abs=1e-6)
    back = _filled(RnnConfig(1, 1, True, reverse=True).init(), {"gate": 0.5})
    output, state = back.forward(Tensor([[[0.1], [0.2], [0.3]]]))
    assert state.hidden.item() == output[0, 0, 0].item() == pytest.approx(0.135508, abs=1e-6)


@pytest.mark.parametrize(
    ("config", "count", "without"),
    [
        (LstmConfig(2, 3, True), 84, 60),
        (LstmConfig(2, 3, True, input_forget=True), 63, 45),
        (BiLstmConfig(2, 3, True), 168, 120),
        (BiLstmConfig(2, 3, True, input_forget=True), 126, 90),
        (GruConfig(2, 8, True), 288, 240),
        (BiGruConfig(2, 8, True), 576, 480),
        (RnnConfig(2, 3, True), 21, 15),
        (BiRnnConfig(2, 3, True), 42, 30),
    ],
)
def test_parameters_are_counted_as_in_burn(config: Any, count: int, without: int) -> None:
    assert config.init().num_params() == count
    plain = type(config)(**{**vars(config), "bias": False})
    assert plain.init().num_params() == without


def test_weights_and_biases_are_drawn_from_xaviers_normal_distribution() -> None:
    lstm = LstmConfig(100, 60, True).init()
    for leaf in (lstm.input_gate.input_transform.weight, lstm.cell_gate.hidden_transform.weight):
        rows, columns = leaf.lazy_shape()
        expected = math.sqrt(2 / (rows + columns))
        assert leaf.val().numpy().std() == pytest.approx(expected, rel=0.05)
    bias = lstm.output_gate.input_transform.bias
    assert bias is not None and bias.val().abs().min().item() > 0


@pytest.mark.parametrize("kind", ["Lstm", "Gru", "Rnn"])
def test_two_directions_are_two_layers_side_by_side(kind: str) -> None:
    both = getattr(nn, f"Bi{kind}Config")(2, 3, True).init()
    x = _random(4, 5, 2)
    output, state = both.forward(x)
    first, second = both.forward_.forward(x), both.reverse
    if kind == "Gru":
        back = second.forward(x.flip([1])).flip([1])
        hidden = state
    else:
        back, _ = second.forward(x)
        first, hidden = first[0], state.hidden
    np.testing.assert_allclose(output.numpy(), np.concatenate([first.numpy(), back.numpy()], 2), rtol=1e-6)
    np.testing.assert_allclose(hidden[0].numpy(), output.numpy()[:, -1, :3], rtol=1e-6)
    np.testing.assert_allclose(hidden[1].numpy(), output.numpy()[:, 0, 3:], rtol=1e-6)
    assert next(iter(both.named_params()))[0].startswith("forward.")


@pytest.mark.parametrize("kind", ["Lstm", "Rnn", "BiLstm", "BiGru", "BiRnn"])
def test_the_sequence_may_come_first(kind: str) -> None:
    config = getattr(nn, f"{kind}Config")(2, 3, True)
    batch_first = config.init()
    other = config.with_batch_first(False).init().load_record(batch_first.into_record())
    x = _random(4, 5, 2)
    expected = batch_first.forward(x)[0].swap_dims(0, 1).numpy()
    np.testing.assert_array_equal(other.forward(x.swap_dims(0, 1))[0].numpy(), expected)


@pytest.mark.parametrize("kind", ["Lstm", "Gru", "Rnn"])
def test_a_sequence_in_two_pieces_is_the_sequence_in_one(kind: str) -> None:
    layer = getattr(nn, f"{kind}Config")(2, 3, True).init()
    x = _random(4, 6, 2)
    whole = layer.forward(x)
    whole = whole if kind == "Gru" else whole[0]
    first = layer.forward(x[:, :2])
    state = first[:, -1] if kind == "Gru" else first[1]
    second = layer.forward(x[:, 2:], state)
    second = second if kind == "Gru" else second[0]
    np.testing.assert_allclose(second.numpy(), whole.numpy()[:, 2:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["Lstm", "Gru", "Rnn", "BiLstm", "BiGru", "BiRnn"])
def test_an_empty_sequence_has_an_empty_output_and_the_state_that_was_given(kind: str) -> None:
    found = getattr(nn, f"{kind}Config")(2, 3, True).init().forward(Tensor.zeros((4, 0, 2)))
    output = found if kind == "Gru" else found[0]
    assert output.shape == (4, 0, 6 if kind.startswith("Bi") else 3)


def test_an_activation_with_parameters_per_gate_sees_each_gate_alone() -> None:
    config = GruConfig(2, 3, True, gate_activation=ActivationConfig.PRelu(nn.PReluConfig(num_parameters=2)))
    gru = config.init()
    assert [path for path, _ in gru.named_params()][-1] == "gate_activation.PRelu.alpha"
    assert gru.forward(_random(2, 2, 2)).shape == (2, 2, 3)


def test_a_clip_bounds_the_state() -> None:
    big = Initializer.Constant(5.0)
    x = Tensor.ones((1, 4, 2))
    _, state = LstmConfig(2, 3, True, clip=0.25, initializer=big).init().forward(x)
    assert state.cell.max().item() == 0.25
    assert GruConfig(2, 3, True, clip=0.25, initializer=big).init().forward(x).max().item() <= 0.25
    assert RnnConfig(2, 3, True, clip=0.25, initializer=big).init().forward(x)[1].hidden.max().item() == 0.25


def test_a_state_can_be_taken_apart() -> None:
    state = LstmState.new(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]))
    stacked = LstmState.stack([state, LstmState.initial(1, 2)])
    assert stacked.shape == (2, 1, 2)
    assert [part.squeeze_dim(0).unpack()[0].tolist() for part in stacked.chunk(2)] == [
        [[1.0, 2.0]],
        [[0.0, 0.0]],
    ]
    assert stacked.slice([slice(0, 1)]).hidden.tolist() == [[[3.0, 4.0]]]
    assert state.unsqueeze_dim(-1).shape == (1, 2, 1)
    assert LstmState.unwrap_or_initial(None, 3, 2).shape == (3, 2)
    assert LstmState.unwrap_or_initial(state, 3, 2) is state
    assert state.device == state.cell.device


def test_gradients_of_all_places_are_those_of_slices() -> None:
    x = _random(5, 2, 3).autodiff().require_grad()
    pieces = x.iter_dim(0)
    loss = (pieces[0] * 2.0 + pieces[3].square()).sum()
    found = x.grad(loss.backward())
    y = x.detach().require_grad()
    parts = y.iter_dim(0)
    expected = y.grad((parts[0] * 2.0 + parts[3].square()).sum().backward())
    assert found is not None and expected is not None
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("kind", ["Lstm", "Gru", "Rnn", "BiLstm", "BiGru", "BiRnn"])
@pytest.mark.parametrize("shape", [(4, 5, 3), (4, 5), (4, 5, 2, 1)])
def test_a_sequence_of_another_shape_is_refused(kind: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"x must have shape \((batch, seq|seq, batch), 2\), got"):
        getattr(nn, f"{kind}Config")(2, 3, True).init().forward(Tensor.zeros(shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: LstmConfig(2, 3, True).init().forward(x, LstmState.initial(3, 3)),
            r"\(4, 3\), got \(3, 3\)",
        ),
        (lambda x: GruConfig(2, 3, True).init().forward(x, Tensor.zeros((4, 2))), r"\(4, 3\), got \(4, 2\)"),
        (lambda x: RnnConfig(2, 3, True).init().forward(x, RnnState(Tensor.zeros((1, 3)))), r"\(4, 3\)"),
        (lambda x: BiGruConfig(2, 3, True).init().forward(x, Tensor.zeros((4, 3))), r"\(2, 4, 3\)"),
        (lambda x: BiLstmConfig(2, 3, True).init().forward(x, LstmState.initial(4, 3)), r"\(2, 4, 3\)"),
        (
            lambda x: BiRnnConfig(2, 3, True).init().forward(x, RnnState(Tensor.zeros((2, 3, 3)))),
            r"\(2, 4, 3\)",
        ),
        (lambda x: LstmState(x, x[0]), "cell and hidden must have one shape"),
    ],
)
def test_a_state_of_another_shape_is_refused(call: Callable[[Tensor], object], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call(Tensor.zeros((4, 5, 2)))


@pytest.mark.parametrize("kind", ["Lstm", "Gru", "Rnn", "BiLstm", "BiGru", "BiRnn"])
def test_odd_configurations_are_refused_by_name(kind: str) -> None:
    config = getattr(nn, f"{kind}Config")
    with pytest.raises(ConfigError, match=f"{kind}Config: clip must not be negative, got -1"):
        config(2, 3, True, clip=-1.0)
    with pytest.raises(ConfigError, match="d_hidden must be at least 0, got -3"):
        config(2, -3, True)
