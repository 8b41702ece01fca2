"""Recurrent layers."""

from __future__ import annotations

from burnpy.nn.rnn.bi_gru import BiGru, BiGruConfig
from burnpy.nn.rnn.bi_lstm import BiLstm, BiLstmConfig
from burnpy.nn.rnn.bi_rnn import BiRnn, BiRnnConfig
from burnpy.nn.rnn.gate_controller import GateController
from burnpy.nn.rnn.gru import Gru, GruConfig
from burnpy.nn.rnn.lstm import Lstm, LstmConfig
from burnpy.nn.rnn.lstm_state import LstmState
from burnpy.nn.rnn.rnn import Rnn, RnnConfig, RnnState

__all__ = [
    "BiGru",
    "BiGruConfig",
    "BiLstm",
    "BiLstmConfig",
    "BiRnn",
    "BiRnnConfig",
    "GateController",
    "Gru",
    "GruConfig",
    "Lstm",
    "LstmConfig",
    "LstmState",
    "Rnn",
    "RnnConfig",
    "RnnState",
]
