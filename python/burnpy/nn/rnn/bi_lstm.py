"""Long short-term memory in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from burnpy.config import KW_ONLY
from burnpy.module import Initializer, Module
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.expect import expect
from burnpy.nn.rnn.gate_controller import XAVIER, check_state
from burnpy.nn.rnn.lstm import LstmConfig
from burnpy.nn.rnn.lstm_state import LstmState
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.tensor import Device, Tensor

__all__ = ["BiLstm", "BiLstmConfig"]


class BiLstmConfig(RecurrentConfig):
    """What a :class:`BiLstm` is made of: as :class:`LstmConfig`.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(BiLstmConfig(2, 3, True).init())
        BiLstm {d_input: 2, d_hidden: 3, bias: true, params: 168}

    Source: Burn ``nn::BiLstmConfig``.
    """

    _: KW_ONLY
    initializer: Initializer = XAVIER
    batch_first: bool = True
    input_forget: bool = False
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid()
    cell_activation: ActivationConfig = ActivationConfig.Tanh()
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> BiLstm:
        """The module, its parameters drawn when they are first needed."""
        return BiLstm(self, device)


class BiLstm(Module):
    """An :class:`Lstm` from the start and one from the end, their outputs side by side.

    Shapes:
        x: ``(batch, seq, d_input)``, or ``(seq, batch, d_input)`` without ``batch_first``
        state: cell and hidden ``(2, batch, d_hidden)``, forward and reverse; zeros if it is not given
        returns: output as ``x`` with ``2 · d_hidden`` features, and the last state

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> output, state = BiLstmConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2)))
        >>> output.shape, state.hidden.shape
        ((4, 5, 6), (2, 4, 3))

    Source: Burn ``nn::BiLstm``. The first direction is the attribute ``forward_``; its path in a record is ``forward``.
    """

    _path_names: ClassVar[Mapping[str, str]] = {"forward_": "forward"}

    def __init__(self, config: BiLstmConfig, device: Device | None = None) -> None:
        lstm = config.one_way(LstmConfig)
        self.forward_ = lstm.init(device)
        self.reverse = lstm.with_reverse(True).init(device)
        self.d_hidden = config.d_hidden
        self.batch_first = config.batch_first

    def forward(self, x: Tensor, state: LstmState | None = None) -> tuple[Tensor, LstmState]:
        """Outputs of all steps, and the last states of both directions."""
        first, second = (None, None) if state is None else self._split(x, state)
        there, state_there = self.forward_.forward(x, first)
        back, state_back = self.reverse.forward(x, second)
        return Tensor.cat([there, back], 2), LstmState.stack([state_there, state_back])

    def _split(self, x: Tensor, state: LstmState) -> tuple[LstmState, LstmState]:
        expect(self, state, LstmState, "state")
        check_state("state", state.cell, (2, x.shape[0 if self.batch_first else 1], self.d_hidden))
        first, second = (part.squeeze_dim(0) for part in state.chunk(2))
        return first, second

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        return self.forward_.input_gate.sizes()
