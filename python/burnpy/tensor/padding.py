"""How windows go over the edges of a tensor."""

from __future__ import annotations

from dataclasses import fields
from typing import ClassVar, Literal

from burnpy.config import NonNegative, Variants

__all__ = ["Padding", "PaddingConfig1d", "PaddingConfig2d", "PaddingConfig3d", "same_padding"]

Padding = Literal["same", "valid"] | list[tuple[int, int]]
"""What functions of ``burnpy.tensor.module`` take: a rule, or what is added before and after each axis."""


def same_padding(size: int, kernel_size: int, stride: int) -> tuple[int, int]:
    """What ``Same`` adds before and after an axis, so that ``ceil(size / stride)`` windows fit; an odd one goes after.

    Unlike PyTorch, and as Burn: dilation does not count.

    Example:
        >>> same_padding(5, 2, 1)
        (0, 1)
    """
    total = max(0, (-(-size // stride) - 1) * stride + kernel_size - size) if size else 0
    return total // 2, total - total // 2


class _PaddingConfig(Variants):
    """What the choices of padding share."""

    def argument(self) -> Padding:
        """What functions of ``burnpy.tensor.module`` take for it."""
        return "valid" if type(self).__name__ == "Valid" else "same"

    def __str__(self) -> str:
        values = ", ".join(str(getattr(self, field.name)) for field in fields(self))
        return f"{type(self).__name__}({values})" if values else type(self).__name__


class PaddingConfig1d(_PaddingConfig):
    """Padding of one axis: ``Same()``, ``Valid()`` (none) or ``Explicit(left, right)``.

    Example:
        >>> PaddingConfig1d.Explicit(1, 2).argument()
        [(1, 2)]

    Source: Burn ``nn::PaddingConfig1d``.
    """

    Same: ClassVar[type[_Same1d]]
    Valid: ClassVar[type[_Valid1d]]
    Explicit: ClassVar[type[_Explicit1d]]


class _Same1d(PaddingConfig1d, of=PaddingConfig1d, name="Same"):
    """As many windows as elements, divided by the stride."""


class _Valid1d(PaddingConfig1d, of=PaddingConfig1d, name="Valid"):
    """No padding."""


class _Explicit1d(PaddingConfig1d, of=PaddingConfig1d, name="Explicit"):
    """So many elements before and after."""

    as_list = True
    left: NonNegative
    right: NonNegative

    def argument(self) -> Padding:
        return [(self.left, self.right)]


class PaddingConfig2d(_PaddingConfig):
    """Padding of two axes: ``Same()``, ``Valid()`` (none) or ``Explicit(top, left, bottom, right)``, in that order.

    Example:
        >>> PaddingConfig2d.Explicit(1, 2, 3, 4).argument()
        [(1, 3), (2, 4)]

    Source: Burn ``nn::PaddingConfig2d``.
    """

    Same: ClassVar[type[_Same2d]]
    Valid: ClassVar[type[_Valid2d]]
    Explicit: ClassVar[type[_Explicit2d]]


class _Same2d(PaddingConfig2d, of=PaddingConfig2d, name="Same"):
    """As many windows as elements, divided by the stride."""


class _Valid2d(PaddingConfig2d, of=PaddingConfig2d, name="Valid"):
    """No padding."""


class _Explicit2d(PaddingConfig2d, of=PaddingConfig2d, name="Explicit"):
    """So many elements on each side."""

    as_list = True
    top: NonNegative
    left: NonNegative
    bottom: NonNegative
    right: NonNegative

    def argument(self) -> Padding:
        return [(self.top, self.bottom), (self.left, self.right)]


class PaddingConfig3d(_PaddingConfig):
    """Padding of three axes: ``Same()``, ``Valid()`` (none) or ``Explicit(depth, height, width)``, at both ends each.

    Example:
        >>> PaddingConfig3d.Explicit(0, 1, 2).argument()
        [(0, 0), (1, 1), (2, 2)]

    Source: Burn ``nn::PaddingConfig3d``.
    """

    Same: ClassVar[type[_Same3d]]
    Valid: ClassVar[type[_Valid3d]]
    Explicit: ClassVar[type[_Explicit3d]]


class _Same3d(PaddingConfig3d, of=PaddingConfig3d, name="Same"):
    """As many windows as elements, divided by the stride."""


class _Valid3d(PaddingConfig3d, of=PaddingConfig3d, name="Valid"):
    """No padding."""


class _Explicit3d(PaddingConfig3d, of=PaddingConfig3d, name="Explicit"):
    """So many elements at both ends of each axis."""

    as_list = True
    depth: NonNegative
    height: NonNegative
    width: NonNegative

    def argument(self) -> Padding:
        return [(self.depth, self.depth), (self.height, self.height), (self.width, self.width)]
