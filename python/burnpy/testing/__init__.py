"""For tests, yours too: ``check_op`` for operations, strategies for Hypothesis in ``burnpy.testing.strategies``."""

from burnpy.testing.check_op import check_op
from burnpy.testing.drawn import Drawn

__all__ = ["Drawn", "check_op"]
