"""Products of matrices and vectors, norms, decompositions."""

from typing import Any

import numpy as np

from burnpy.testing import Drawn
from tests.tensor.operations.operation import Cases, Operation, ints

MATRICES: Cases = [
    ((3, 5), (5, 4)),
    ((2, 3, 5), (2, 5, 4)),
    ((3, 3, 5), (1, 5, 4)),
    ((2, 1, 3, 5), (1, 3, 5, 4)),
    ((1, 1), (1, 1)),
    ((3, 0), (0, 4)),
    ((0, 3), (3, 2)),
    ((1, 17), (17, 1)),
    ((33, 20), (20, 35)),
]
VECTORS: Cases = [((7,), (7,)), ((1,), (1,)), ((0,), (0,))]
AWAY = Drawn(away=(0.0,), apart=0.2)
REAL: Cases = [(3, 4), (1, 4), (2, 1)]
DOUBLE = ["float64", "float32"]


def _norm(p: float) -> Any:
    return lambda x: (np.abs(x) ** p).sum(axis=1, keepdims=True) ** (1 / p)


def _magnitude(x: Any) -> Any:
    return np.sqrt((x * x).sum(axis=1, keepdims=True))


def _cosine(a: Any, b: Any) -> Any:
    return (a * b).sum(axis=1, keepdims=True) / (_magnitude(a) * _magnitude(b))


def _qr_product(x: Any) -> Any:
    q, r = x.qr()
    return q.matmul(r), q.transpose().matmul(q)


def _lu_product(x: Any) -> Any:
    l, u, p = x.lu()  # noqa: E741
    return p.transpose().matmul(l).matmul(u)


def _svd_product(x: Any) -> Any:
    u, s, vt = x.svd()
    return (u * s).matmul(vt), s


# The inner loop goes along the memory: views add up in another order.
_SUMS: dict[str, Any] = {"same_bits": False, "rel": 4}

PRODUCTS = [
    Operation("matmul", np.matmul, MATRICES, large=((300, 400), (400, 350)), **_SUMS),
    Operation(
        "matmul",
        np.matmul,
        [((64, 300), (300, 1)), ((1, 300), (300, 64)), ((130, 70), (70, 90))],
        dtypes=DOUBLE,
        rel=10,
        note="long",
        same_bits=False,
    ),
    ints(Operation("matmul", np.matmul, MATRICES[:-1]), Drawn("int", low=-2, high=3)),
    Operation("dot", lambda a, b: np.reshape(a @ b, 1), VECTORS, large=((100003,), (100003,)), **_SUMS),
    Operation(
        "matvec",
        lambda a, b: np.matvec(a, b),
        [((3, 4), (4,)), ((2, 3, 4), (2, 4)), ((3, 0), (0,)), ((1, 1), (1,))],
        large=((700, 500), (500,)),
        **_SUMS,
    ),
    Operation(
        "outer",
        lambda a, b: a[..., :, None] * b[..., None, :],
        [((4,), (3,)), ((1,), (1,)), ((0,), (3,)), ((2, 3), (2, 4))],
        large=((700,), (500,)),
    ),
    ints(Operation("dot", lambda a, b: np.reshape(a @ b, 1), VECTORS), Drawn("int", low=-3, high=4)),
    Operation(
        "einsum",
        lambda a, b: np.einsum("bij,bjk->bki", a, b),
        [((2, 3, 4), (2, 4, 5)), ((1, 1, 1), (1, 1, 1))],
        call=lambda a, b: _einsum("bij,bjk->bki", a, b),
        **_SUMS,
        large=((2, 130, 140), (2, 140, 150)),
    ),
    Operation(
        "einsum",
        lambda a: np.reshape(np.einsum("ii", a), 1),
        [(3, 3), (1, 1)],
        call=lambda a: _einsum("ii", a),
        note="trace",
    ),
    Operation(
        "einsum",
        lambda a, b: np.einsum("i,jk->kij", a, b),
        [((2,), (3, 4)), ((0,), (1, 2))],
        call=lambda a, b: _einsum("i,jk->kij", a, b),
        note="outer",
    ),
    ints(
        Operation(
            "einsum",
            lambda a, b: np.einsum("ij,jk->ik", a, b),
            [((2, 3), (3, 4))],
            call=lambda a, b: _einsum("ij,jk->ik", a, b),
        ),
        Drawn("int", low=-3, high=4),
    ),
]


def _einsum(equation: str, *tensors: Any) -> Any:
    from burnpy.tensor import einsum

    return einsum(equation, *tensors)


VECTOR = [
    *(
        Operation(name, _norm(p), REAL, AWAY, args=(p, 1), note=f"{p:g}", rel=4)
        for name in ("vector_norm", "lp_norm")
        for p in (1.0, 2.0, 3.0)
    ),
    Operation(
        "vector_norm",
        lambda x: np.abs(x).max(axis=1, keepdims=True),
        REAL,
        Drawn(low=0.1, distinct=True),
        args=(float("inf"), 1),
        note="inf",
    ),
    Operation(
        "vector_norm",
        lambda x: (x != 0).sum(axis=1, keepdims=True).astype(float),
        REAL,
        Drawn(step=1.0),
        args=(0.0, 1),
        note="0",
        gradient=False,
    ),
    Operation("vector_normalize", lambda x: x / _magnitude(x), REAL, AWAY, rel=4),
    Operation("cosine_similarity", _cosine, [((3, 4), (3, 4)), ((2, 1), (2, 1))], AWAY, rel=4),
    Operation("cross", lambda a, b: np.cross(a, b), [((4, 3), (4, 3)), ((3,), (3,)), ((0, 3), (0, 3))]),
]

MATRIX = [
    Operation("diag", lambda x: np.diagonal(x, axis1=-2, axis2=-1), [(3, 4), (2, 3, 3), (1, 1)]),
    Operation(
        "trace", lambda x: np.reshape(np.trace(x, axis1=-2, axis2=-1), (-1,)), [(3, 4), (2, 3, 3), (1, 1)]
    ),
    Operation("det", lambda x: np.reshape(np.linalg.det(x), (-1,)), [(3, 3), (2, 4, 4), (1, 1)], rel=20),
    Operation("cov", lambda x: np.cov(x, rowvar=True), [(3, 5), (2, 9)], args=(1,), rel=4),
    Operation(
        "qr",
        lambda x: (x, np.eye(min(x.shape))),
        [(4, 3), (3, 3), (3, 5), (1, 1)],
        call=_qr_product,
        dtypes=DOUBLE,
        rel=10,
        gradient=False,
    ),
    Operation("lu", lambda x: x, [(4, 4), (1, 1)], call=_lu_product, dtypes=DOUBLE, rel=10, gradient=False),
    Operation(
        "svd",
        lambda x: (x, np.linalg.svd(x)[1]),
        [(4, 3), (3, 5), (1, 1)],
        call=_svd_product,
        dtypes=DOUBLE,
        rel=10,
        gradient=False,
    ),
]

OPERATIONS = [*PRODUCTS, *VECTOR, *MATRIX]
