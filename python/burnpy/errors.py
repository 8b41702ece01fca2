"""Every exception that burnpy raises itself; all can be pickled, with their fields."""

from __future__ import annotations

# As `typing.TYPE_CHECKING`, without the import, which would be half the time of `import burnpy`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

__all__ = [
    "AlreadyExists",
    "ArgumentError",
    "AutodiffError",
    "BurnpyError",
    "CheckpointError",
    "ConfigError",
    "DTypeError",
    "DataError",
    "DataframeDatasetError",
    "DatasetError",
    "DeviceError",
    "Error",
    "ImageLoaderError",
    "InvalidHeader",
    "InvalidMagicNumber",
    "InvalidVersion",
    "IoError",
    "MetadataDeserializationError",
    "MetadataSerializationError",
    "NonFiniteGradientError",
    "ParamGroupError",
    "PickleError",
    "PytorchError",
    "PytorchStoreError",
    "RecordError",
    "RecordIoError",
    "RecordValidationError",
    "RecordWarning",
    "SafetensorsStoreError",
    "ScalarConversionError",
    "ShapeError",
    "SqliteDatasetError",
    "StorageError",
    "StoreError",
    "TensorBytesSizeMismatch",
    "TensorError",
    "TensorIndexError",
    "TensorNotFound",
    "TrainingError",
    "ValidationError",
]


class BurnpyError(Exception):
    """Base of burnpy's own exceptions.

    Example:
        >>> issubclass(ValidationError, BurnpyError)
        True
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with `args`, and lose every field that is no positional argument.
        return _restore, (type(self), self.args, dict(self.__dict__))


def _restore(cls: type[BurnpyError], args: tuple[Any, ...], fields: dict[str, Any]) -> BurnpyError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class Error(BurnpyError):
    """Something is wrong with a burnpack container; the subclass says what, under Burn's name of the kind.

    Attributes:
        kind: Burn's name of the kind.
        path: the file, as resolved, or ``None``.
        tensor: the tensor's name, or ``None``.
        found: the number that was found, or ``None``.
        limit: the number that was expected or allowed, or ``None``.
    """

    kind: ClassVar[str] = "Error"

    def __init__(
        self,
        message: str = "",
        *,
        path: str | None = None,
        tensor: str | None = None,
        found: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.tensor = tensor
        self.found = found
        self.limit = limit


class InvalidHeader(Error):
    """The file ends inside its header or metadata."""

    kind = "InvalidHeader"


class InvalidMagicNumber(Error):
    """The file does not begin as a burnpack does; the message says what it looks like."""

    kind = "InvalidMagicNumber"


class InvalidVersion(Error):
    """The file has a version newer than this reader knows."""

    kind = "InvalidVersion"


class MetadataSerializationError(Error):
    """The metadata cannot be written."""

    kind = "MetadataSerializationError"


class MetadataDeserializationError(Error):
    """The metadata is not what it should be; ``found`` is the offset inside it."""

    kind = "MetadataDeserializationError"


class IoError(Error, OSError):
    """The system failed while a container was read or written; ``errno`` and ``strerror`` are the system's."""

    kind = "IoError"

    def __init__(
        self, message: str = "", *, errno: int | None = None, strerror: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.errno = errno
        self.strerror = strerror
        self.filename = self.path

    def __reduce__(self) -> tuple[Any, ...]:
        state = {**self.__dict__, "errno": self.errno, "strerror": self.strerror, "filename": self.filename}
        return _restore_io, (type(self), self.args, state)


def _restore_io(cls: type[BurnpyError], args: tuple[Any, ...], fields: dict[str, Any]) -> BurnpyError:
    error = cls.__new__(cls, *args)
    error.args = args
    for name, value in fields.items():
        setattr(error, name, value)
    return error


class TensorNotFound(Error, KeyError):
    """No tensor has this name; ``tensor`` is the name that was asked for."""

    kind = "TensorNotFound"


class TensorBytesSizeMismatch(Error):
    """A provider returned ``found`` bytes, ``limit`` were declared."""

    kind = "TensorBytesSizeMismatch"


class ValidationError(Error):
    """A rule or a limit is broken, or a deferred tensor's provider failed: its exception is the ``__cause__``."""

    kind = "ValidationError"


class AlreadyExists(Error, FileExistsError):
    """Something is at the destination, and overwriting is off."""

    kind = "AlreadyExists"

    def __init__(self, message: str = "", **fields: Any) -> None:
        super().__init__(message, **fields)
        self.filename = self.path


class CheckpointError(BurnpyError):
    """Something is wrong with a checkpoint of PyTorch, safetensors or NumPy, or with the index of one in several files.

    Attributes:
        kind: what is wrong, in two or three words: ``"truncated"``, ``"missing storage"``, ``"over limit"``, …
        tensor: the tensor's name, or ``None``.
        member: the member of the archive, or the file of the index, or ``None``.
        found: the number that was found, or ``None``.
        limit: the number that was expected or allowed, or ``None``.
        path: the file, or ``None``.

    Example:
        >>> CheckpointError("its storage is missing", kind="missing storage", tensor="fc.weight").kind
        'missing storage'
    """

    def __init__(
        self,
        message: str = "",
        *,
        kind: str = "checkpoint error",
        tensor: str | None = None,
        member: str | None = None,
        found: int | None = None,
        limit: int | None = None,
        path: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.tensor = tensor
        self.member = member
        self.found = found
        self.limit = limit
        self.path = path


class StoreError(BurnpyError):
    """Base of the errors of stores of other formats than Burn's; what is wrong with the file is the ``__cause__``.

    Attributes:
        kind: Burn's name of the kind.
        result: what became of each tensor, if the store was applied to a module; an ``ApplyResult``.
    """

    def __init__(self, message: str = "", *, kind: str = "Other", result: Any = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.result = result


class SafetensorsStoreError(StoreError):
    """A ``SafetensorsStore`` failed: ``Safetensors``, ``Io``, ``TensorNotFound``, ``ValidationFailed`` or ``Other``."""


class PytorchStoreError(StoreError):
    """A ``PytorchStore`` failed: ``Reader``, ``Io``, ``TensorNotFound``, ``ValidationFailed`` or ``Other``."""


class StorageError(BurnpyError, OSError):
    """A store did not answer a request as it should. What is missing or forbidden is told by Python's own errors.

    Attributes:
        url: the object.
        start: the first byte that was asked for, or ``None``.
        stop: the first byte behind, or ``None``.
        status: the status of the answer, or ``None`` where there was none.
        transient: whether another attempt may help; it was made, ``attempts`` times in all.
        attempts: how often the request was sent.
    """

    def __init__(
        self,
        message: str = "",
        *,
        url: str | None = None,
        start: int | None = None,
        stop: int | None = None,
        status: int | None = None,
        transient: bool = False,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.url = url
        self.start = start
        self.stop = stop
        self.status = status
        self.transient = transient
        self.attempts = 1
        self.errno = errno

    def __str__(self) -> str:
        return self.message if self.attempts == 1 else f"{self.message}, in {self.attempts} attempts"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_io, (type(self), self.args, {**self.__dict__, "errno": self.errno})


class RecordError(BurnpyError):
    """A record cannot be written, read or loaded."""


class RecordIoError(RecordError):
    """A record's container is at fault: its error is the ``__cause__``. Burn's ``RecordError::Io``."""


class RecordValidationError(RecordError):
    """A record does not fit what it is loaded into, which is as it was. Burn's ``RecordError::Validation``.

    Attributes:
        report: all that does not fit, and what would have been loaded; ``None`` if it was not compared.

    Example:
        >>> RecordValidationError("1 missing").report is None
        True
    """

    def __init__(self, message: str = "", *, report: Any = None) -> None:
        super().__init__(message)
        self.report = report


class RecordWarning(UserWarning):
    """A part of a record was not used, or a part of what it was loaded into starts anew."""


class PytorchError(BurnpyError):
    """A ``PytorchReader`` failed.

    Attributes:
        kind: ``Io``, ``Pickle``, ``Zip``, ``Tar``, ``InvalidFormat``, ``KeyNotFound`` or ``Serde``.
    """

    def __init__(self, message: str = "", *, kind: str = "InvalidFormat") -> None:
        super().__init__(message)
        self.kind = kind


class PickleError(PytorchError):
    """A pickle is damaged, or asks for what is never done; the ``__cause__`` says what."""

    def __init__(self, message: str = "", *, kind: str = "Pickle") -> None:
        super().__init__(message, kind=kind)


class ParamGroupError(BurnpyError, ValueError):
    """A group of parameters cannot be made, as its pattern is invalid, or cannot be written."""


class TensorError(BurnpyError):
    """An operation on tensors cannot be done.

    Attributes:
        operation: its name, or ``None``.

    Example:
        >>> TensorError("matmul: inner sizes 3 and 4 differ", operation="matmul").operation
        'matmul'
    """

    def __init__(self, message: str = "", *, operation: str | None = None) -> None:
        super().__init__(message)
        self.operation = operation


class ShapeError(TensorError, ValueError):
    """Shapes, ranks or axes do not fit."""


class DTypeError(TensorError, TypeError):
    """A dtype has no counterpart where it is wanted, or dtypes do not fit.

    Attributes:
        tensor: the tensor's name, or ``None``.
        dtype: the dtype's name, or ``None``.
        operation: the operation on tensors, or ``None``.
    """

    def __init__(
        self,
        message: str = "",
        *,
        tensor: str | None = None,
        dtype: str | None = None,
        operation: str | None = None,
    ) -> None:
        super().__init__(message, operation=operation)
        self.tensor = tensor
        self.dtype = dtype


class TensorIndexError(TensorError, IndexError):
    """An index is outside of its axis."""


class ArgumentError(TensorError, ValueError):
    """Any other argument of an operation is not as it must be."""


class AutodiffError(TensorError, RuntimeError):
    """A graph of gradients is not there, or not any more."""


class DataError(TensorError, ValueError):
    """``TensorData`` does not hold what is asked of it."""


class DeviceError(TensorError, RuntimeError):
    """A device cannot be what is asked for."""


class ScalarConversionError(BurnpyError, ValueError):
    """A scalar does not fit the type asked for."""


class ConfigError(BurnpyError, ValueError):
    """A configuration that cannot be: a value that is refused, or JSON that does not describe one.

    Attributes:
        kind: ``"InvalidFormat"``, Burn's name, for what is read; ``"InvalidValue"`` for what is given.
    """

    def __init__(self, message: str = "", *, kind: str = "InvalidValue") -> None:
        super().__init__(message)
        self.kind = kind


class NonFiniteGradientError(BurnpyError, ArithmeticError):
    """The norm that gradients are clipped by is infinite or NaN; no parameter was changed.

    Attributes:
        norm: the norm.
    """

    def __init__(self, message: str = "", *, norm: float = float("nan")) -> None:
        super().__init__(message)
        self.norm = norm


class DatasetError(BurnpyError):
    """An item of a data set cannot be had: its source fails, or holds something else than was promised.

    What was wrong below is the ``__cause__``. An index out of range is no such failure but an ``IndexError``.

    Attributes:
        kind: what is wrong, in one word; Burn's name where it has one.
        path: the file, or ``None``.

    Example:
        >>> DatasetError("item 3: the field 'label' is missing", path="train.csv").path
        'train.csv'
    """

    def __init__(self, message: str = "", *, kind: str = "Other", path: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path


class SqliteDatasetError(DatasetError):
    """An SQLite file fails: ``Sql``, ``Serde``, ``Deserialize``, ``Row``, ``FileExists`` or ``Other``."""


class DataframeDatasetError(DatasetError):
    """A data frame does not hold what the items want: ``MissingColumn`` or ``Conversion``."""


class ImageLoaderError(DatasetError):
    """An image folder fails: ``IOError``, ``InvalidFileExtensionError``, ``ParsingError`` or ``Unknown``."""


class TrainingError(BurnpyError):
    """A run ended before its time. The error that ended it is the ``__cause__``.

    Attributes:
        kind: ``"dataset"``, ``"event_processor"`` (metrics, loggers, renderers), ``"workers"``, ``"checkpoint"``, or
            ``"directory"``: another run is at work there.
        result: the ``LearningResult`` or ``EvaluationResult`` so far, or ``None``.

    Source: Burn ``train::TrainingError``. Unlike Burn, ``launch`` raises it, unless it is told not to.
    """

    def __init__(self, message: str = "", *, kind: str = "event_processor", result: object = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.result = result
