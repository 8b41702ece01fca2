"""Operations on shapes, and tensors made of several and several made of one."""

import numpy as np

from burnpy import Tensor
from tests.tensor.operations.operation import AXES, LARGE_ONE, NATURAL, Cases, Operation, bools, naturals

THREE: Cases = [(2, 3, 4), (1, 1, 3), (2, 0, 3)]
MATRIX: Cases = [(4, 6), (1, 6), (0, 6)]
SQUARE: Cases = [(4, 5), (3, 3), (1, 4), (2, 4, 3)]


def _tiled(x: np.ndarray, times: int, axis: int) -> np.ndarray:
    return np.concatenate([x] * times, axis=axis)


VIEWS = [
    Operation("reshape", lambda x: x.reshape(-1, 3), [(2, 3), (3,), (0, 3), (3, 2, 4)], args=(-1, 3)),
    Operation("reshape_literal", lambda x: x.reshape(3, 2), [(2, 3), (6,)], args=(3, 2)),
    Operation(
        "flatten", lambda x: x.reshape(x.shape[0], -1) if x.size else np.zeros((2, 0)), THREE, args=(1, 2)
    ),
    Operation("squeeze", np.squeeze, [(1, 3, 1), (2, 3), (1, 0)]),
    Operation("squeeze_dim", lambda x: x.squeeze(1), [(3, 1, 2), (0, 1)], args=(1,)),
    Operation("squeeze_dims", lambda x: x.squeeze((0, 2)), [(1, 3, 1)], args=([0, 2],)),
    Operation("unsqueeze", lambda x: x.reshape(1, *x.shape), [(2, 3), (0, 2)], args=(3,)),
    Operation("unsqueeze_dim", lambda x: np.expand_dims(x, 1), [(2, 3), (3,), (0,)], args=(1,)),
    Operation("unsqueeze_dims", lambda x: np.expand_dims(x, (0, 2)), [(2, 3)], args=([0, 2],)),
    Operation("transpose", lambda x: x.swapaxes(-1, -2), [(2, 3), (2, 3, 4), (0, 2)]),
    Operation("T", lambda x: x.swapaxes(-1, -2), [(2, 3), (0, 2)], call=lambda x: x.T),
    Operation("swap_dims", lambda x: x.swapaxes(0, 2), THREE, args=(0, 2)),
    Operation("permute", lambda x: x.transpose(2, 0, 1), THREE, args=(2, 0, 1)),
    Operation("movedim", lambda x: np.moveaxis(x, 0, 2), THREE, args=(0, 2)),
    Operation(
        "movedim", lambda x: np.moveaxis(x, [0, 1], [1, 2]), THREE, args=([0, 1], [1, 2]), note="several"
    ),
    Operation("flip", lambda x: np.flip(x, (0, 2)), THREE, args=([0, 2],)),
    Operation("expand", lambda x: np.broadcast_to(x, (2, 3, 4)), [(3, 1), (1, 3, 4), (4,)], args=(2, 3, 4)),
    Operation("contiguous", lambda x: x, AXES, large=LARGE_ONE),
    Operation("clone", lambda x: x, AXES),
]

COPIES = [
    Operation("repeat", lambda x: np.tile(x, (2, 1, 3)), THREE, args=(2, 1, 3)),
    Operation("repeat_dim", lambda x: _tiled(x, 3, 1), [(2, 3), (2, 1), (2, 0)], args=(1, 3)),
    Operation("roll", lambda x: np.roll(x, (1, -2), (0, 2)), THREE, args=([1, -2], [0, 2])),
    Operation("roll_dim", lambda x: np.roll(x, 5, 1), [(2, 3), (2, 1), (2, 7)], args=(5, 1), large=LARGE_ONE),
    Operation("cat", lambda a, b: np.concatenate([a, b], 1), [((2, 3), (2, 1)), ((2, 0), (2, 3))],
              call=lambda a, b: Tensor.cat([a, b], 1), large=((257, 1031), (257, 3))),
    Operation("stack", lambda a, b: np.stack([a, b], 1), [((2, 3), (2, 3)), ((0,), (0,)), ((1, 4), (1, 4))],
              call=lambda a, b: Tensor.stack([a, b], 1)),
    Operation("pad", lambda x: np.pad(x, ((0, 0), (1, 2), (3, 0))), THREE, args=([(1, 2), (3, 0)],)),
    Operation("tril", lambda x: np.tril(x, 1), SQUARE, args=(1,), large=LARGE_ONE),
    Operation("triu", lambda x: np.triu(x, -1), SQUARE, args=(-1,), large=LARGE_ONE),
    Operation("unfold", lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 1)[:, ::2], [(2, 9), (1, 3)],
              args=(1, 3, 2)),
]  # fmt: skip

PARTS = [
    Operation("split", lambda x: np.split(x, [4], axis=1), MATRIX, args=(4, 1)),
    Operation("split_with_sizes", lambda x: np.split(x, [1, 4], axis=1), MATRIX, args=([1, 3, 2], 1)),
    Operation("chunk", lambda x: np.split(x, [2, 4], axis=1), MATRIX, args=(3, 1)),
    Operation("iter_dim", lambda x: [x[i : i + 1] for i in range(2)], [(2, 3), (2, 0)], args=(0,)),
]

_DTYPES = ("reshape", "permute", "expand", "repeat", "roll", "cat", "stack", "tril", "flip", "split", "pad")

OPERATIONS = [
    *VIEWS, *COPIES, *PARTS,
    *(naturals(op, NATURAL) for op in [*VIEWS, *COPIES, *PARTS] if op.name in _DTYPES),
    *(bools(op) for op in [*VIEWS, *COPIES, *PARTS] if op.name in _DTYPES and op.name != "pad"),
]  # fmt: skip
