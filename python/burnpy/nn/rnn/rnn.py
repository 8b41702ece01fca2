"""Plain recurrent networks."""

from __future__ import annotations

from dataclasses import dataclass

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
    joined,
    walk,
)
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.tensor import Device, Tensor

__all__ = ["Rnn", "RnnConfig", "RnnState"]


class RnnConfig(RecurrentConfig):
    """What an :class:`Rnn` is made of.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(RnnConfig(2, 3, True).init())
        Rnn {d_input: 2, d_hidden: 3, bias: true, params: 21}

    Source: Burn ``nn::RnnConfig``.
    """

    _: KW_ONLY
    initializer: Initializer = XAVIER
    batch_first: bool = True
    reverse: bool = False
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> Rnn:
        """The module, its parameters drawn when they are first needed."""
        return Rnn(self, device)


@dataclass(frozen=True)
class RnnState:
    """What an :class:`Rnn` carries from step to step.

    Source: Burn ``nn::RnnState``.
    """

    hidden: Tensor


class Rnn(Module):
    """``h = tanh(x·Wx + bx + h·Wh + bh)``, step by step.

    Shapes:
        x: ``(batch, seq, d_input)``, or ``(seq, batch, d_input)`` without ``batch_first``
        state: hidden ``(batch, d_hidden)``; zeros if it is not given
        returns: output as ``x`` with ``d_hidden`` features, and the last state

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> output, state = RnnConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2)))
        >>> output.shape, state.hidden.shape
        ((4, 5, 3), (4, 3))

    Cost: one product for the inputs of all steps, and one in each step for the hidden state.

    Source: Burn ``nn::Rnn``; Elman 1990. With ``reverse`` it walks from the end, and the output of a place stands at
    that place.
    """

    def __init__(self, config: RnnConfig, device: Device | None = None) -> None:
        self.gate = config.gate(device)
        self.hidden_activation = config.hidden_activation.init(device)
        self.d_hidden = config.d_hidden
        self.clip = config.clip
        self.batch_first = config.batch_first
        self.reverse = config.reverse

    def forward(self, x: Tensor, state: RnnState | None = None) -> tuple[Tensor, RnnState]:
        """Outputs of all steps, and the last state."""
        check_sequence(x, self.gate.d_input, batch_first=self.batch_first)
        x = x.swap_dims(0, 1) if self.batch_first else x
        hidden = self._start(x, state)
        hiddens, outputs = Packed.hiddens([self.gate]), []
        for step in walk(Packed.inputs([self.gate])(x), reverse=self.reverse):
            hidden = clipped(self.hidden_activation.forward(step + hiddens(hidden)), self.clip)
            outputs.append(hidden)
        output = joined(outputs, hidden, batch_first=self.batch_first, reverse=self.reverse)
        return output, RnnState(hidden.squeeze_dim(0))

    def _start(self, x: Tensor, state: RnnState | None) -> Tensor:
        shape = (x.shape[1], self.d_hidden)
        if state is None:
            return Tensor.zeros((1, *shape), x.device, dtype=x.dtype)
        expect(self, state, RnnState, "state")
        check_state("state", state.hidden, shape)
        return state.hidden.unsqueeze_dim(0)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        return self.gate.sizes()
