"""Gated recurrent units in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from burnpy.config import KW_ONLY
from burnpy.module import Initializer, Module
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.expect import expect
from burnpy.nn.rnn.gate_controller import XAVIER, check_sequence, check_state
from burnpy.nn.rnn.gru import GruConfig
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.tensor import Device, Tensor

__all__ = ["BiGru", "BiGruConfig"]


class BiGruConfig(RecurrentConfig):
    """What a :class:`BiGru` is made of: as :class:`GruConfig`.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(BiGruConfig(2, 8, True).init())
        BiGru {d_input: 2, d_hidden: 8, bias: true, params: 576}

    Source: Burn ``nn::BiGruConfig``.
    """

    _: KW_ONLY
    reset_after: bool = True
    initializer: Initializer = XAVIER
    batch_first: bool = True
    gate_activation: ActivationConfig = ActivationConfig.Sigmoid()
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> BiGru:
        """The module, its parameters drawn when they are first needed."""
        return BiGru(self, device)


class BiGru(Module):
    """A :class:`Gru` from the start and one from the end, their outputs side by side.

    Shapes:
        x: ``(batch, seq, d_input)``, or ``(seq, batch, d_input)`` without ``batch_first``
        state: ``(2, batch, d_hidden)``, forward and reverse; zeros if it is not given
        returns: output as ``x`` with ``2 · d_hidden`` features, and the last state

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> output, state = BiGruConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2)))
        >>> output.shape, state.shape
        ((4, 5, 6), (2, 4, 3))

    Source: Burn ``nn::BiGru``. The first direction is the attribute ``forward_``; its path in a record is ``forward``.
    """

    _path_names: ClassVar[Mapping[str, str]] = {"forward_": "forward"}

    def __init__(self, config: BiGruConfig, device: Device | None = None) -> None:
        gru = config.one_way(GruConfig)
        self.forward_ = gru.init(device)
        self.reverse = gru.init(device)
        self.d_hidden = config.d_hidden
        self.batch_first = config.batch_first

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs of all steps, and the last states of both directions."""
        check_sequence(x, self.forward_.update_gate.d_input, batch_first=self.batch_first)
        x = x.swap_dims(0, 1) if self.batch_first else x
        first = second = None
        if state is not None:
            expect(self, state, Tensor, "state")
            check_state("state", state, (2, x.shape[1], self.d_hidden))
            first, second = state.select_dim(0, 0), state.select_dim(0, 1)
        there, state_there = self.forward_.walk(x, first, reverse=False)
        back, state_back = self.reverse.walk(x, second, reverse=True)
        output = Tensor.cat([there, back], 2)
        output = output.swap_dims(0, 1) if self.batch_first else output
        return output, Tensor.stack([state_there, state_back], 0)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        return self.forward_.update_gate.sizes()
