"""Paths and all that is taken in their stead, told apart; ``burnpy.storage`` is imported for the latter alone."""

from __future__ import annotations

from collections.abc import Mapping

from burnpy import _core

# As `typing.TYPE_CHECKING`, without the import, which would be half the time of `import burnpy`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from burnpy._typing import Place
    from burnpy.pack import Limits, Scalar
    from burnpy.storage.location import Location

__all__ = ["is_remote", "place_of", "save_pack"]


def place_of(filename: Any) -> Any:
    """A plain path as it is, the path of what is a file here, and the ``Location`` of everything else.

    Example:
        >>> place_of("model.bpk"), place_of("memory://model.bpk").name
        ('model.bpk', 'model.bpk')
    """
    is_plain = isinstance(filename, str) and "://" not in filename
    if is_plain or type(filename).__module__.partition(".")[0] == "pathlib":
        return filename
    from burnpy.storage.location import resolve

    return resolve(filename)


def is_remote(place: object) -> TypeGuard[Location]:
    """Whether what ``place_of`` gave is a ``Location``; everything else is a path, or no place at all."""
    return hasattr(place, "storage")


def save_pack(
    tensors: Mapping[str, Any],
    filename: Place,
    metadata: Mapping[str, str] | None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None,
    param_ids: Mapping[str, int] | None,
    durable: bool,
    limits: Limits | None,
) -> None:
    """What the ``save_file`` of every framework does with its tensors."""
    place = place_of(filename)
    if not is_remote(place):
        _core.save_file(
            tensors,
            place,
            metadata,
            scalars=scalars,
            param_ids=param_ids,
            durable=durable,
            limits=limits,
        )
        return
    from burnpy.storage.whole import write_pack

    writer = _core.plan_file(tensors, metadata, scalars=scalars, param_ids=param_ids, limits=limits)
    write_pack(writer, place)
