"""Gated recurrent units."""

from __future__ import annotations

from burnpy.config import KW_ONLY
from burnpy.module import Initializer, Module
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.expect import expect
from burnpy.nn.rnn.gate_controller import (
    XAVIER,
    GateController,
    Packed,
    check_sequence,
    check_state,
    clipped,
    gate_values,
    joined,
    walk,
)
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.tensor import Device, Tensor

__all__ = ["Gru", "GruConfig"]


class GruConfig(RecurrentConfig):
    """What a :class:`Gru` is made of.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(GruConfig(2, 8, True).init())
        Gru {d_input: 2, d_hidden: 8, bias: true, reset_after: true, params: 288}

    Source: Burn ``nn::GruConfig``.
    """

    _: KW_ONLY
    reset_after: bool = True
    initializer: Initializer = XAVIER
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid()
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> Gru:
        """The module, its parameters drawn when they are first needed."""
        return Gru(self, device)


class Gru(Module):
    """Gates ``z, r`` of input and hidden state, and a candidate ``n``: ``h = (1 − z)·n + z·h``.

    With ``reset_after``, ``n = tanh(x·Wx + bx + r·(h·Wh + bh))``, as PyTorch; else ``tanh(x·Wx + bx + (r·h)·Wh + bh)``.

    Shapes:
        x: ``(batch, seq, d_input)``
        state: ``(batch, d_hidden)``; zeros if it is not given
        returns: ``(batch, seq, d_hidden)``

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> GruConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2))).shape
        (4, 5, 3)

    Cost: two products for the inputs of all steps and gates, and one or two in each step for the hidden state.

    Source: Burn ``nn::Gru``; Cho et al. 2014.
    """

    def __init__(self, config: GruConfig, device: Device | None = None) -> None:
        self.update_gate = config.gate(device)
        self.reset_gate = config.gate(device)
        self.new_gate = config.gate(device)
        self.gate_activation = config.gate_activation.init(device)
        self.hidden_activation = config.hidden_activation.init(device)
        self.d_hidden = config.d_hidden
        self.clip = config.clip
        self.reset_after = config.reset_after

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """Outputs of all steps."""
        check_sequence(x, self.update_gate.d_input, batch_first=True)
        return self.walk(x.swap_dims(0, 1), state, reverse=False)[0].swap_dims(0, 1)

    def walk(self, x: Tensor, state: Tensor | None, *, reverse: bool) -> tuple[Tensor, Tensor]:
        """Outputs ``(seq, batch, d_hidden)`` of ``(seq, batch, d_input)``, and the last state."""
        shape = (x.shape[1], self.d_hidden)
        if state is None:
            hidden = Tensor.zeros((1, *shape), x.device, dtype=x.dtype)
        else:
            expect(self, state, Tensor, "state")
            check_state("state", state, shape)
            hidden = state.unsqueeze_dim(0)
        switches = [self.update_gate, self.reset_gate]
        inputs = walk(Packed.inputs(switches)(x), reverse=reverse)
        news = walk(Packed.inputs([self.new_gate])(x), reverse=reverse)
        cell = _After(self, switches) if self.reset_after else _Before(self, switches)
        outputs = []
        for switch, new in zip(inputs, news, strict=True):
            update, candidate = cell.step(switch, new, hidden)
            hidden = clipped(candidate + update * (hidden - candidate), self.clip)
            outputs.append(hidden)
        return joined(outputs, hidden, batch_first=False, reverse=reverse), hidden.squeeze_dim(0)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes and settings."""
        return [*self.update_gate.sizes(), ("reset_after", self.reset_after)]


class _After:
    """A step whose reset acts on what the weights made of the hidden state."""

    def __init__(self, gru: Gru, switches: list[GateController]) -> None:
        self.gru = gru
        self.hiddens = Packed.hiddens([*switches, gru.new_gate])

    def step(self, switch: Tensor, new: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """The update gate and the candidate."""
        gru, width = self.gru, self.gru.d_hidden
        product = self.hiddens(hidden)
        switch = switch + product.narrow(2, 0, 2 * width)
        update, reset = gate_values(gru.gate_activation, switch, 2)
        new = new + reset * product.narrow(2, 2 * width, width)
        return update, gru.hidden_activation.forward(new)


class _Before:
    """A step whose reset acts on the hidden state itself."""

    def __init__(self, gru: Gru, switches: list[GateController]) -> None:
        self.gru = gru
        self.hiddens = Packed.hiddens(switches)
        self.new = Packed.hiddens([gru.new_gate])

    def step(self, switch: Tensor, new: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """The update gate and the candidate."""
        gru = self.gru
        update, reset = gate_values(gru.gate_activation, switch + self.hiddens(hidden), 2)
        return update, gru.hidden_activation.forward(new + self.new(reset * hidden))
