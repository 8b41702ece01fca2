"""What every format of a checkpoint offers to ``burnpy.open``, and the small values that it tells."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from burnpy._core import ForeignView, View
    from burnpy.pack import QuantScheme

    LazyTensor: TypeAlias = View | ForeignView

__all__ = ["Archive", "Skipped", "TensorInfo"]


@dataclass(frozen=True)
class TensorInfo:
    """What a checkpoint says of one tensor; nothing of its elements was read for it.

    Attributes:
        name: the full name.
        dtype: the element type's text form.
        shape: the extents.
        param_id: id of the parameter that it belongs to; burnpacks alone have them.
        nbytes: bytes of its elements, one after the other.
        data_offsets: first byte and first byte behind, as the header tells them; ``None`` where there is none.
        scheme: the quantization scheme of a quantized tensor.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    param_id: int | None
    nbytes: int
    data_offsets: tuple[int, int] | None = None
    scheme: QuantScheme | None = None


@dataclass(frozen=True)
class Skipped:
    """Something that a checkpoint holds and that was not built.

    Attributes:
        name: where it stands.
        kind: what it is: the class or function that would have to be called, ``"numpy.ndarray"``, …
        reason: ``"call"``, ``"global"``, ``"module"`` or ``"unsupported"``.
        shape: the extents that it would have, if it is a kind of tensor.
        dtype: the element type in the words of its own library.
    """

    name: str
    kind: str
    reason: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None


class Archive:
    """An open file, or several that are one. Tensors are known by their full names; an unknown one is a ``KeyError``.

    A format says what its tensors are, and of the rest whatever it has.
    """

    path: str

    @property
    def format(self) -> str:
        """What it is."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        """Names in data order."""
        raise NotImplementedError

    def has(self, name: object) -> bool:
        """Whether a tensor has this name."""
        return name in self.keys()

    def view(self, name: str, shown: str | None = None) -> LazyTensor:
        """A tensor, which may call itself by another name."""
        raise NotImplementedError

    def info(self, name: str) -> TensorInfo:
        """What is known of a tensor without a look at its elements."""
        raise NotImplementedError

    def close(self) -> None:
        """Let the file go."""
        raise NotImplementedError

    def metadata(self) -> dict[str, str]:
        """Texts by key."""
        return {}

    def scalars(self) -> dict[str, Any]:
        """All other plain values by full name."""
        return {}

    def typed_scalars(self) -> dict[str, Any]:
        """The same with the kinds that they have in the file, where a format has kinds."""
        return self.scalars()

    def skipped(self) -> list[Skipped]:
        """What was not built."""
        return []

    def ties(self) -> list[list[str]]:
        """Groups of names that are one tensor."""
        return []

    def overlaps(self) -> list[list[str]]:
        """Groups of names that share bytes and are not one tensor."""
        return []

    def dict_keys(self, path: list[str]) -> list[str] | None:
        """Keys of a dict inside the file; ``None`` if names are flat."""
        return None

    def has_names_below(self, path: list[str]) -> bool:
        """Whether a path of keys leads to a dict or module inside the file."""
        return False

    @contextmanager
    def verifying(self, names: Sequence[str]) -> Iterator[Callable[[], None]]:
        """Compare tensors with their checksums while they are read; what is read meanwhile counts after the call.

        A format without checksums has nothing to compare.
        """
        yield lambda: None
