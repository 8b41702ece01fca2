"""Long short-term memory."""

from __future__ import annotations

from burnpy.config import KW_ONLY
from burnpy.module import Initializer, Module
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.expect import expect
from burnpy.nn.rnn.gate_controller import (
    XAVIER,
    Packed,
    check_sequence,
    check_state,
    clipped,
    gate_values,
    joined,
    walk,
)
from burnpy.nn.rnn.lstm_state import LstmState
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.tensor import Device, Tensor

__all__ = ["Lstm", "LstmConfig"]


class LstmConfig(RecurrentConfig):
    """What an :class:`Lstm` is made of.

    ``clip`` bounds the cell, ``input_forget`` couples the gates: what is not taken in is kept, and there is no forget
    gate.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(LstmConfig(2, 3, True).init())
        Lstm {d_input: 2, d_hidden: 3, bias: true, params: 84}

    Source: Burn ``nn::LstmConfig``.
    """

    _: KW_ONLY
    initializer: Initializer = XAVIER
    batch_first: bool = True
    reverse: bool = False
    input_forget: bool = False
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid()
    cell_activation: ActivationConfig = ActivationConfig.Tanh()
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> Lstm:
        """The module, its parameters drawn when they are first needed."""
        return Lstm(self, device)


class Lstm(Module):
    """Gates ``i, f, o`` and a candidate ``g`` of input and hidden state: ``c = f·c + i·g``, ``h = o·tanh(c)``.

    Shapes:
        x: ``(batch, seq, d_input)``, or ``(seq, batch, d_input)`` without ``batch_first``
        state: cell and hidden ``(batch, d_hidden)``; zeros if it is not given
        returns: output as ``x`` with ``d_hidden`` features, and the last state

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> output, state = LstmConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2)))
        >>> output.shape, state.hidden.shape
        ((4, 5, 3), (4, 3))

    Cost: one product for the inputs of all steps and gates, and one in each step for the hidden state.

    Source: Burn ``nn::Lstm``; Hochreiter & Schmidhuber 1997. With ``reverse`` it walks from the end, and the output of
    a place stands at that place.
    """

    def __init__(self, config: LstmConfig, device: Device | None = None) -> None:
        self.input_gate = config.gate(device)
        self.forget_gate = None if config.input_forget else config.gate(device)
        self.output_gate = config.gate(device)
        self.cell_gate = config.gate(device)
        self.gate_activation = config.gate_activation.init(device)
        self.cell_activation = config.cell_activation.init(device)
        self.hidden_activation = config.hidden_activation.init(device)
        self.d_hidden = config.d_hidden
        self.clip = config.clip
        self.input_forget = config.input_forget
        self.batch_first = config.batch_first
        self.reverse = config.reverse

    def forward(self, x: Tensor, state: LstmState | None = None) -> tuple[Tensor, LstmState]:
        """Outputs of all steps, and the last state."""
        check_sequence(x, self.input_gate.d_input, batch_first=self.batch_first)
        x = x.swap_dims(0, 1) if self.batch_first else x
        cell, hidden = self._start(x, state)
        gates = [self.input_gate, self.forget_gate, self.output_gate, self.cell_gate]
        present = [gate for gate in gates if gate is not None]
        inputs, hiddens = Packed.inputs(present)(x), Packed.hiddens(present)
        outputs = []
        for step in walk(inputs, reverse=self.reverse):
            cell, hidden = self._step(step + hiddens(hidden), cell)
            outputs.append(hidden)
        output = joined(outputs, hidden, batch_first=self.batch_first, reverse=self.reverse)
        return output, LstmState(cell.squeeze_dim(0), hidden.squeeze_dim(0))

    def _start(self, x: Tensor, state: LstmState | None) -> tuple[Tensor, Tensor]:
        shape = (x.shape[1], self.d_hidden)
        if state is None:
            zeros = Tensor.zeros((1, *shape), x.device, dtype=x.dtype)
            return zeros, zeros
        expect(self, state, LstmState, "state")
        check_state("state", state.cell, shape)
        return state.cell.unsqueeze_dim(0), state.hidden.unsqueeze_dim(0)

    def _step(self, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        width = self.d_hidden
        count = 2 if self.input_forget else 3
        values = gate_values(self.gate_activation, gates.narrow(2, 0, count * width), count)
        candidate = self.cell_activation.forward(gates.narrow(2, count * width, width))
        taken, shown = values[0], values[-1]
        kept = 1.0 - taken if self.input_forget else values[1]
        cell = clipped(kept * cell + taken * candidate, self.clip)
        return cell, shown * self.hidden_activation.forward(cell)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        return self.input_gate.sizes()
