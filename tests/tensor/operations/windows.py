"""Convolutions, pools, and sampling of images."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from burnpy.tensor import module
from burnpy.testing import Drawn
from tests.tensor.operations.operation import DISTINCT, Cases, Operation


def _windows(shape: Sequence[int], kernel: Sequence[int], stride: int, dilation: int) -> Any:
    """Places in the output, and what they see of the input, as slices."""
    spans = [dilation * (k - 1) + 1 for k in kernel]
    counts = [(size - span) // stride + 1 for size, span in zip(shape, spans, strict=True)]
    for place in product(*map(range, counts)):
        yield (
            place,
            tuple(slice(i * stride, i * stride + s, dilation) for i, s in zip(place, spans, strict=True)),
        )


def _counts(shape: Sequence[int], kernel: Sequence[int], stride: int, dilation: int) -> list[int]:
    return [(size - dilation * (k - 1) - 1) // stride + 1 for size, k in zip(shape, kernel, strict=True)]


def conv(stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Callable[..., Any]:
    def reference(x: Any, weight: Any, bias: Any) -> Any:
        x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * (x.ndim - 2)])
        kernel, per = weight.shape[2:], weight.shape[0] // groups
        out = np.zeros((x.shape[0], weight.shape[0], *_counts(x.shape[2:], kernel, stride, dilation)))
        for place, seen in _windows(x.shape[2:], kernel, stride, dilation):
            parts = np.split(x[(slice(None), slice(None), *seen)], groups, axis=1)
            for g, part in enumerate(parts):
                w = weight[g * per : (g + 1) * per]
                out[(slice(None), slice(g * per, (g + 1) * per), *place)] = (
                    part.reshape(len(x), w[0].size) @ w.reshape(per, -1).T
                )
        return out + bias.reshape(-1, *[1] * (x.ndim - 2))

    return reference


def conv_transpose(stride: int = 1, padding: int = 0, padding_out: int = 0) -> Callable[..., Any]:
    def reference(x: Any, weight: Any, bias: Any) -> Any:
        kernel = weight.shape[2:]
        sizes = [(n - 1) * stride + k + padding_out for n, k in zip(x.shape[2:], kernel, strict=True)]
        out = np.zeros((x.shape[0], weight.shape[1], *sizes))
        for place in product(*map(range, x.shape[2:])):
            seen = tuple(slice(i * stride, i * stride + k) for i, k in zip(place, kernel, strict=True))
            out[(slice(None), slice(None), *seen)] += np.tensordot(
                x[(slice(None), slice(None), *place)], weight, 1
            )
        cut = tuple(slice(padding, size - padding) for size in sizes)
        return out[(slice(None), slice(None), *cut)] + bias.reshape(-1, *[1] * (x.ndim - 2))

    return reference


def pool(function: Callable[..., Any], kernel: int, stride: int) -> Callable[..., Any]:
    def reference(x: Any) -> Any:
        sizes = [kernel] * (x.ndim - 2)
        out = np.zeros((*x.shape[:2], *_counts(x.shape[2:], sizes, stride, 1)))
        for place, seen in _windows(x.shape[2:], sizes, stride, 1):
            window = x[(slice(None), slice(None), *seen)]
            out[(slice(None), slice(None), *place)] = function(window.reshape(*x.shape[:2], -1), axis=-1)
        return out

    return reference


def _max_with_indices(kernel: int, stride: int) -> Callable[..., Any]:
    def reference(x: Any) -> Any:
        places = np.broadcast_to(np.arange(np.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
        values = pool(np.max, kernel, stride)(x)
        # The place of the greatest: the numbers differ, so one place of the whole plane holds it.
        found = [
            places[0, 0][plane == value]
            for plane, values in zip(
                x.reshape(-1, *x.shape[2:]), values.reshape(-1, values[0, 0].size), strict=True
            )
            for value in values
        ]
        return values, np.array(found).reshape(values.shape)

    return reference


def _adaptive(size: int) -> Callable[..., Any]:
    def reference(x: Any) -> Any:
        for axis in range(2, x.ndim):
            n = x.shape[axis]
            parts = [np.arange(i * n // size, -(-(i + 1) * n // size)) for i in range(size)]
            x = np.stack([x.take(part, axis).mean(axis=axis) for part in parts], axis)
        return x

    return reference


def _columns(x: Any) -> Any:
    found = [
        x[(slice(None), slice(None), *seen)].reshape(len(x), -1)
        for _, seen in _windows(x.shape[2:], (2, 3), 1, 1)
    ]
    return np.stack(found, -1)


def _folded(x: Any) -> Any:
    out = np.zeros((len(x), x.shape[1] // 6, 4, 5))
    for i, (_, seen) in enumerate(_windows((4, 5), (2, 3), 1, 1)):
        out[(slice(None), slice(None), *seen)] += x[..., i].reshape(len(x), -1, 2, 3)
    return out


def _linearly(size: int) -> Callable[..., Any]:
    """Interpolation between corners that stay where they are."""

    def reference(x: Any) -> Any:
        for axis in range(2, x.ndim):
            n = x.shape[axis]
            at = np.arange(size) * (n - 1) / (size - 1)
            low = np.minimum(at.astype(int), n - 1)
            high, part = np.minimum(low + 1, n - 1), (at - low).reshape(-1, *[1] * (x.ndim - axis - 1))
            x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
        return x

    return reference


def _pixel(image: Any, y: float, x: float) -> Any:
    """An image between its pixels, zero outside of them."""
    height, width = image.shape[-2:]
    total = 0.0
    for j in (int(np.floor(y)), int(np.floor(y)) + 1):
        for i in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= j < height and 0 <= i < width:
                total = total + image[..., j, i] * (1 - abs(y - j)) * (1 - abs(x - i))
    return total


def _grid_sampled(x: Any, grid: Any) -> Any:
    height, width = x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    for b, j, i in product(*map(range, grid.shape[:3])):
        across, down = grid[b, j, i]
        out[b, :, j, i] = _pixel(x[b], ((down + 1) * height - 1) / 2, ((across + 1) * width - 1) / 2)
    return out


def _affine(theta: Any) -> Any:
    down, across = (2 * np.arange(3) + 1) / 3 - 1, (2 * np.arange(4) + 1) / 4 - 1
    base = np.stack([*np.broadcast_arrays(across[None, :], down[:, None]), np.ones((3, 4))], -1)
    return np.einsum("hwk,bdk->bhwd", base, theta)


def _deformed(x: Any, offset: Any, weight: Any, mask: Any, bias: Any) -> Any:
    kernel = weight.shape[2:]
    height, width = _counts(x.shape[2:], kernel, 1, 1)
    out = np.zeros((len(x), len(weight), height, width))
    for b, j, i in product(range(len(x)), range(height), range(width)):
        for k, (dj, di) in enumerate(product(*map(range, kernel))):
            down, across = offset[b, 2 * k : 2 * k + 2, j, i]
            seen = np.zeros(x.shape[1]) + _pixel(x[b], j + dj + down, i + di + across)
            out[b, :, j, i] += weight[:, :, dj, di] @ seen * mask[b, k, j, i]
    return out + bias[:, None, None]


def _convolutions() -> list[Operation]:
    found = []
    for rank, side in ((1, 7), (2, 5), (3, 4)):
        many = (side,) * rank
        for note, channels, weights, options in [
            ("", 2, (3, 2), {}),
            ("strided", 2, (3, 2), {"stride": 2, "padding": 1}),
            ("groups", 4, (4, 2), {"groups": 2, "dilation": 2 if rank < 3 else 1}),
        ]:
            shapes: Cases = [((2, channels, *many), (*weights, *[2] * rank), (weights[0],))]
            found.append(
                Operation(f"module.conv{rank}d", conv(**options), shapes, options=options, note=note, rel=4)
            )
        for note, options in [("", {}), ("strided", {"stride": 2, "padding": 1, "padding_out": 1})]:
            shapes = [((2, 2, *(3,) * rank), (2, 3, *[3] * rank), (3,))]
            name = f"module.conv_transpose{rank}d"
            found.append(
                Operation(name, conv_transpose(**options), shapes, options=options, note=note, rel=4)
            )
    return found


CONVOLUTIONS = [
    *_convolutions(),
    Operation(
        "module.conv2d",
        conv(padding=1),
        [((1, 1, 1, 1), (1, 1, 3, 3), (1,)), ((0, 2, 3, 3), (3, 2, 3, 3), (3,))],
        options={"padding": 1},
        note="small",
        large=((4, 16, 40, 40), (32, 16, 3, 3), (32,)),
    ),
    Operation(
        "module.conv_transpose2d",
        conv_transpose(stride=2),
        [((1, 1, 1, 1), (1, 1, 2, 2), (1,))],
        options={"stride": 2},
        note="small",
        large=((4, 16, 20, 20), (16, 32, 3, 3), (32,)),
    ),
    Operation(
        "module.deform_conv2d",
        _deformed,
        [((1, 2, 4, 5), (1, 8, 3, 4), (2, 2, 2, 2), (1, 4, 3, 4), (2,))],
        (Drawn(), Drawn(low=0.1, high=0.9), Drawn(), Drawn(), Drawn()),
        rel=4,
    ),
]

_LARGE: dict[int, Any] = {1: ((8, 32, 2000),), 2: ((4, 32, 60, 60),), 3: ((2, 16, 20, 20, 20),)}


def _pools() -> list[Operation]:
    found = []
    for rank in (1, 2, 3):
        shapes: Cases = [(2, 2, *(5,) * rank), (1, 1, *(2,) * rank)]
        large = _LARGE[rank]
        found += [
            Operation(
                f"module.avg_pool{rank}d",
                pool(np.mean, 2, 1),
                shapes,
                args=(2,),
                options={"stride": 1},
                large=large,
            ),
            Operation(f"module.adaptive_avg_pool{rank}d", _adaptive(2), shapes, args=(2,), large=large),
        ]
        found.append(
            Operation(f"module.max_pool{rank}d", pool(np.max, 2, 2), shapes, DISTINCT, args=(2,), large=large)
        )
        if rank < 3:
            found.append(
                Operation(
                    f"module.max_pool{rank}d_with_indices",
                    _max_with_indices(2, 2),
                    shapes,
                    DISTINCT,
                    args=(2,),
                    dtypes=["float64", "float32"],
                    large=large,
                )
            )
    return found


IMAGES = [
    Operation(
        "module.unfold4d", _columns, [(2, 2, 4, 5), (1, 1, 2, 3)], args=([2, 3],), large=((4, 8, 60, 60),)
    ),
    Operation("module.fold4d", _folded, [(2, 12, 9), (1, 6, 9)], args=([4, 5], [2, 3]), rel=2),
    Operation(
        "module.interpolate",
        lambda x: x.repeat(2, axis=-1).repeat(2, axis=-2),
        [(2, 2, 3, 4), (1, 1, 1, 1)],
        options={"scale_factor": 2.0, "mode": "nearest", "align_corners": False},
        note="nearest",
    ),
    Operation(
        "module.interpolate",
        _linearly(5),
        [(2, 2, 3, 4), (1, 1, 7, 7)],
        args=([5, 5],),
        options={"mode": "linear"},
        note="linear",
        large=((4, 64, 30, 30),),
    ),
    Operation(
        "module.interpolate",
        _linearly(5),
        [(2, 2, 3)],
        args=([5],),
        options={"mode": "linear"},
        note="linear-1d",
    ),
    Operation(
        "module.grid_sample_2d",
        _grid_sampled,
        [((2, 2, 3, 4), (2, 3, 2, 2)), ((1, 1, 2, 2), (1, 1, 1, 2))],
        (Drawn(), Drawn(low=-1.2, high=1.2)),
        rel=10,
        dtypes=["float64", "float32"],
        large=((2, 16, 40, 40), (2, 40, 40, 2)),
    ),
    Operation(
        "module.affine_grid_2d",
        _affine,
        [(2, 2, 3), (1, 2, 3)],
        call=lambda theta: module.affine_grid_2d(theta, [theta.shape[0], 1, 3, 4]),
    ),
]

OPERATIONS = [*CONVOLUTIONS, *_pools(), *IMAGES]
