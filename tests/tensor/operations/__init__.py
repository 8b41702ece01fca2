"""The table of all public operations: what each is called with, and what NumPy has for it."""

from tests.tensor.operations import (
    activations,
    creation,
    elementwise,
    indices,
    layers,
    products,
    reductions,
    shapes,
    windows,
)
from tests.tensor.operations.operation import Operation

FAMILIES = (elementwise, reductions, shapes, indices, products, activations, layers, windows, creation)
OPERATIONS: list[Operation] = [operation for family in FAMILIES for operation in family.OPERATIONS]

__all__ = ["OPERATIONS", "Operation"]
