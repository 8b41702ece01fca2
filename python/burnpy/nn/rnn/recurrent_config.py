"""What the configurations of recurrent modules share."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.errors import ConfigError
from burnpy.nn.rnn.gate_controller import GateController

if TYPE_CHECKING:
    from burnpy.module import Initializer
    from burnpy.tensor import Device

__all__ = ["RecurrentConfig"]

C = TypeVar("C", bound="RecurrentConfig")


class RecurrentConfig(Config):
    """Sizes and the bound of recurrent modules, and what they are made of.

    Raises:
        ConfigError: ``clip`` is negative.
    """

    d_input: NonNegative
    d_hidden: NonNegative
    bias: bool
    _: KW_ONLY
    clip: float | None = None

    if TYPE_CHECKING:
        # Of each kind, which has it at another place in its JSON.
        initializer: Initializer

    def validate(self) -> None:
        """Check what the types do not say."""
        if self.clip is not None and not self.clip >= 0:
            raise ConfigError(f"{type(self).__name__}: clip must not be negative, got {self.clip}")

    def gate(self, device: Device | None) -> GateController:
        """A gate of the module."""
        return GateController(
            self.d_input, self.d_hidden, bias=self.bias, initializer=self.initializer, device=device
        )

    def one_way(self, kind: type[C]) -> C:
        """The configuration of one direction: what this one and the kind both have."""
        names = [field.name for field in fields(kind) if hasattr(self, field.name)]
        return kind(**{name: getattr(self, name) for name in names})
