"""The base class of configurations."""

from __future__ import annotations

import json
import os
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, dataclass_transform

from burnpy.config.codec import Mismatch, check_fields, decode, encode
from burnpy.errors import ConfigError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["KW_ONLY", "Config", "none_as_default", "same_as"]


def same_as(name: str) -> Any:
    """The default of a field that is the value of another one, taken when the configuration is made.

    Example:
        >>> class PoolConfig(Config):
        ...     kernel_size: int
        ...     _: KW_ONLY
        ...     stride: int = same_as("kernel_size")
        >>> PoolConfig(3).stride
        3
    """
    return field(default=None, metadata={"computed": name})


def none_as_default() -> Any:
    """The default of a field that may be ``None``, where Burn declares that: its key is among those with a default.

    Example:
        >>> class SearchConfig(Config):
        ...     _: KW_ONLY
        ...     steps: int = 20
        ...     limit: int | None = none_as_default()
        >>> str(SearchConfig()).split()
        ['{', '"steps":', '20,', '"limit":', 'null', '}']
    """
    return field(default=None, metadata={"declared": True})


@dataclass_transform(frozen_default=True)
class Config:
    """Base of configurations: a subclass is a frozen dataclass of what was chosen.

    Required fields come first, by position; after a ``_: KW_ONLY`` line, those with a default, by keyword. Types and
    the bounds of ``NonNegative`` and ``Positive`` are checked when it is made, numbers of type ``F32`` are rounded to
    single precision. For each field after the line there is ``with_<field>``, a changed copy. ``str()`` is the JSON
    that :meth:`save` writes: byte for byte what Burn writes for the same fields.

    Raises:
        ConfigError: a value of the wrong type, with the field's name (also a ``ValueError``).

    Example:
        >>> from burnpy.config import KW_ONLY, Config
        >>> class MlpConfig(Config):
        ...     d_input: int
        ...     _: KW_ONLY
        ...     d_hidden: int = 64
        >>> config = MlpConfig(784).with_d_hidden(512)
        >>> print(config)
        {
          "d_input": 784,
          "d_hidden": 512
        }
        >>> MlpConfig.load_binary(str(config).encode()) == config
        True

    Source: Burn ``config::Config``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, repr=True)(cls)
        for member in fields(cls):  # type: ignore[arg-type]
            if member.kw_only and not hasattr(cls, f"with_{member.name.rstrip('_')}"):
                setattr(cls, f"with_{member.name.rstrip('_')}", _setter(member.name))

    def __post_init__(self) -> None:
        for member in fields(self):  # type: ignore[arg-type]
            if getattr(self, member.name) is None and "computed" in member.metadata:
                object.__setattr__(self, member.name, getattr(self, member.metadata["computed"]))
        check_fields(self)
        self.validate()

    @classmethod
    def new(cls, *required: Any, **others: Any) -> Self:
        """The same as calling the class: Burn's spelling."""
        return cls(*required, **others)

    def validate(self) -> None:
        """Check what the types do not say; raise :class:`ConfigError` with the field's name. Does nothing here."""

    def __getattr__(self, name: str) -> Any:
        # For the type checker: `with_<field>` are made when a subclass is.
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __str__(self) -> str:
        try:
            return encode(self, type(self))
        except Mismatch as problem:
            raise ConfigError(f"{type(self).__name__}: {problem}", kind="InvalidValue") from None

    def save(self, file: PathLike) -> None:
        """Write the JSON, over what is there.

        Raises:
            ConfigError: a number is not finite; nothing is written then.
            OSError: the file cannot be written.
        """
        text = str(self)
        scratch = Path(f"{os.fspath(file)}.{os.getpid()}.tmp")
        try:
            scratch.write_text(text, encoding="utf-8")
            os.replace(scratch, file)
        finally:
            scratch.unlink(missing_ok=True)

    @classmethod
    def load(cls, file: PathLike) -> Self:
        """Read a file that :meth:`save` or Burn wrote.

        Unknown keys are ignored; a missing key of a field without ``None`` as its default is an error, as in Burn.

        Raises:
            FileNotFoundError, PermissionError, IsADirectoryError: it cannot be read.
            ConfigError: it is no JSON of this configuration; the message names the file and the key.
        """
        content = Path(file).read_bytes()
        try:
            return cls.load_binary(content)
        except ConfigError as error:
            raise ConfigError(f"{os.fspath(file)}: {error}", kind=error.kind) from error.__cause__

    @classmethod
    def load_binary(cls, data: bytes) -> Self:
        """Read the bytes of such a file.

        Raises:
            ConfigError: as :meth:`load`.
        """
        try:
            value: Self = decode(json.loads(bytes(data).decode("utf-8"), parse_constant=_no_constant), cls)
            return value
        except RecursionError:
            raise ConfigError(f"{cls.__name__}: it is nested too deep", kind="InvalidFormat") from None
        except (ValueError, Mismatch) as problem:
            if isinstance(problem, ConfigError):
                raise
            raise ConfigError(f"{cls.__name__}: {problem}", kind="InvalidFormat") from problem


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _setter(name: str) -> Any:
    def with_field(self: Config, value: Any) -> Config:
        return replace(self, **{name: value})  # type: ignore[type-var]

    with_field.__name__ = f"with_{name.rstrip('_')}"
    with_field.__doc__ = f"A copy with another ``{name}``."
    return with_field
