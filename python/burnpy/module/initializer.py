"""First values of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from burnpy._core import Device, Tensor, new_stream
from burnpy.config import Variants
from burnpy.module.param import Param
from burnpy.module.param_id import ParamId
from burnpy.tensor import Distribution

if TYPE_CHECKING:
    from burnpy._core import Draw

__all__ = ["Initializer", "default_device"]


class Initializer(Variants):
    """How a parameter is first filled. One of the variants below.

    Every parameter draws from a stream of random numbers of its own, taken when it is declared: printing, counting and
    the order of use change nothing. The same seed and the same declarations give the same weights.

    Example:
        >>> Initializer.KaimingUniform(gain=1.0).init_with((2, 3), fan_in=2, fan_out=3).lazy_shape()
        (2, 3)

    Source: Burn ``module::Initializer``; He et al. 2015 (Kaiming), Glorot & Bengio 2010 (Xavier), Saxe et al. 2014
    (orthogonal).
    """

    Constant: ClassVar[type[_Constant]]
    Ones: ClassVar[type[_Ones]]
    Zeros: ClassVar[type[_Zeros]]
    Uniform: ClassVar[type[_Uniform]]
    Normal: ClassVar[type[_Normal]]
    KaimingUniform: ClassVar[type[_KaimingUniform]]
    KaimingNormal: ClassVar[type[_KaimingNormal]]
    XavierUniform: ClassVar[type[_XavierUniform]]
    XavierNormal: ClassVar[type[_XavierNormal]]
    Orthogonal: ClassVar[type[_Orthogonal]]

    def init(self, shape: Sequence[int], device: Device | None = None) -> Param:
        """A parameter to be filled so; see :meth:`init_with`."""
        return self.init_with(shape, None, None, device)

    def init_with(
        self,
        shape: Sequence[int],
        fan_in: int | None = None,
        fan_out: int | None = None,
        device: Device | None = None,
    ) -> Param:
        """A parameter to be filled so when it is first needed.

        Args:
            shape: its sizes.
            fan_in: how many inputs an element of the output depends on.
            fan_out: how many outputs an element of the input acts on.
            device: where; the default device if it is not given.

        Raises:
            ValueError: at first use, if a fan is needed and was not given, or the shape does not suit.
        """
        sizes = tuple(int(size) for size in shape)
        draw = new_stream()

        def fill(device: Device, require_grad: bool) -> Tensor:
            value = self.fill(sizes, fan_in, fan_out, draw)
            value = value.autodiff() if device.is_autodiff() else value
            return value.require_grad() if require_grad else value

        return Param.uninitialized(ParamId.new(), fill, device or default_device(), True, sizes)

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        """The values, as a plain tensor."""
        raise NotImplementedError

    def _scale(self, fan_in: int | None, fan_out: int | None, *, out_only: bool | None) -> float:
        """The number of terms that a variance is divided by; ``None`` for the mean of both fans."""
        name = type(self).__name__
        if out_only is None:
            if fan_in is None or fan_out is None:
                raise ValueError(f"{name} needs fan_in and fan_out, got {fan_in} and {fan_out}")
            return (fan_in + fan_out) / 2 or math.inf
        fan, which = (fan_out, "fan_out") if out_only else (fan_in, "fan_in")
        if fan is None:
            raise ValueError(f"{name} needs {which}, which is not known for this parameter")
        # Where there is no input at all, the bias is 0.
        return float(fan) or math.inf


def default_device() -> Device:
    """The device that modules are made on where none is given: the CPU, with autodiff."""
    return Device.cpu().autodiff()


def _uniform(shape: tuple[int, ...], low: float, high: float, draw: Draw) -> Tensor:
    return Tensor.random_from(draw, shape, Distribution.uniform(low, high), Device.cpu())


def _normal(shape: tuple[int, ...], mean: float, std: float, draw: Draw) -> Tensor:
    return Tensor.random_from(draw, shape, Distribution.normal(mean, std), Device.cpu())


class _Constant(Initializer, of=Initializer, name="Constant"):
    """``value`` everywhere."""

    as_object = True
    value: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return Tensor.full(shape, self.value, device=Device.cpu())


class _Ones(Initializer, of=Initializer, name="Ones"):
    """1 everywhere."""

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return Tensor.full(shape, 1.0, device=Device.cpu())


class _Zeros(Initializer, of=Initializer, name="Zeros"):
    """0 everywhere."""

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return Tensor.full(shape, 0.0, device=Device.cpu())


class _Uniform(Initializer, of=Initializer, name="Uniform"):
    """U[min, max)."""

    min: float
    max: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return _uniform(shape, self.min, self.max, draw)


class _Normal(Initializer, of=Initializer, name="Normal"):
    """N(mean, std)."""

    mean: float
    std: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return _normal(shape, self.mean, self.std, draw)


class _KaimingUniform(Initializer, of=Initializer, name="KaimingUniform"):
    """U[−a, a) with a = √3 · gain / √fan."""

    gain: float
    fan_out_only: bool = False

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        bound = math.sqrt(3) * self.gain / math.sqrt(self._scale(fan_in, fan_out, out_only=self.fan_out_only))
        return _uniform(shape, -bound, bound, draw)


class _KaimingNormal(Initializer, of=Initializer, name="KaimingNormal"):
    """N(0, gain / √fan)."""

    gain: float
    fan_out_only: bool = False

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        std = self.gain / math.sqrt(self._scale(fan_in, fan_out, out_only=self.fan_out_only))
        return _normal(shape, 0.0, std, draw)


class _XavierUniform(Initializer, of=Initializer, name="XavierUniform"):
    """U[−a, a) with a = √3 · gain · √(2 / (fan_in + fan_out))."""

    gain: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        bound = math.sqrt(3) * self.gain / math.sqrt(self._scale(fan_in, fan_out, out_only=None))
        return _uniform(shape, -bound, bound, draw)


class _XavierNormal(Initializer, of=Initializer, name="XavierNormal"):
    """N(0, gain · √(2 / (fan_in + fan_out)))."""

    gain: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        return _normal(shape, 0.0, self.gain / math.sqrt(self._scale(fan_in, fan_out, out_only=None)), draw)


class _Orthogonal(Initializer, of=Initializer, name="Orthogonal"):
    """gain · Q of a random matrix, whose rows or columns (the fewer) are orthonormal."""

    gain: float

    def fill(self, shape: tuple[int, ...], fan_in: int | None, fan_out: int | None, draw: Draw) -> Tensor:
        if len(shape) < 2:
            raise ValueError(f"Orthogonal needs two axes or more, got shape {list(shape)}")
        rows = shape[0]
        cols = math.prod(shape[1:])
        matrix = _normal((max(rows, cols), min(rows, cols)), 0.0, 1.0, draw)
        q, r = matrix.qr()
        q = q * r.diag().sign().unsqueeze_dim(0)
        q = q.transpose() if rows < cols else q
        return q.reshape(list(shape)) * self.gain
