"""Plain recurrent networks in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from burnpy.config import KW_ONLY
from burnpy.module import Initializer, Module
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.expect import expect
from burnpy.nn.rnn.gate_controller import XAVIER, check_state
from burnpy.nn.rnn.recurrent_config import RecurrentConfig
from burnpy.nn.rnn.rnn import RnnConfig, RnnState
from burnpy.tensor import Device, Tensor

__all__ = ["BiRnn", "BiRnnConfig"]


class BiRnnConfig(RecurrentConfig):
    """What a :class:`BiRnn` is made of: as :class:`RnnConfig`.

    Raises:
        ConfigError: ``clip`` is negative.

    Example:
        >>> print(BiRnnConfig(2, 3, True).init())
        BiRnn {d_input: 2, d_hidden: 3, bias: true, params: 42}

    Source: Burn ``nn::BiRnnConfig``.
    """

    _: KW_ONLY
    initializer: Initializer = XAVIER
    batch_first: bool = True
    hidden_activation: ActivationConfig = ActivationConfig.Tanh()

    def init(self, device: Device | None = None) -> BiRnn:
        """The module, its parameters drawn when they are first needed."""
        return BiRnn(self, device)


class BiRnn(Module):
    """An :class:`Rnn` from the start and one from the end, their outputs side by side.

    Shapes:
        x: ``(batch, seq, d_input)``, or ``(seq, batch, d_input)`` without ``batch_first``
        state: hidden ``(2, batch, d_hidden)``, forward and reverse; zeros if it is not given
        returns: output as ``x`` with ``2 · d_hidden`` features, and the last state

    Raises:
        ShapeError: shapes do not fit.

    Example:
        >>> output, state = BiRnnConfig(2, 3, True).init().forward(Tensor.ones((4, 5, 2)))
        >>> output.shape, state.hidden.shape
        ((4, 5, 6), (2, 4, 3))

    Source: Burn ``nn::BiRnn``. The first direction is the attribute ``forward_``; its path in a record is ``forward``.
    """

    _path_names: ClassVar[Mapping[str, str]] = {"forward_": "forward"}

    def __init__(self, config: BiRnnConfig, device: Device | None = None) -> None:
        rnn = config.one_way(RnnConfig)
        self.forward_ = rnn.init(device)
        self.reverse = rnn.with_reverse(True).init(device)
        self.d_hidden = config.d_hidden
        self.batch_first = config.batch_first

    def forward(self, x: Tensor, state: RnnState | None = None) -> tuple[Tensor, RnnState]:
        """Outputs of all steps, and the last states of both directions."""
        first = second = None
        if state is not None:
            expect(self, state, RnnState, "state")
            check_state("state", state.hidden, (2, x.shape[0 if self.batch_first else 1], self.d_hidden))
            first, second = (RnnState(state.hidden.select_dim(0, i)) for i in (0, 1))
        there, state_there = self.forward_.forward(x, first)
        back, state_back = self.reverse.forward(x, second)
        hidden = Tensor.stack([state_there.hidden, state_back.hidden], 0)
        return Tensor.cat([there, back], 2), RnnState(hidden)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        return self.forward_.gate.sizes()
