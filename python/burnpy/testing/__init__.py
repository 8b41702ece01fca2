"""For tests, yours too: ``check_op`` for operations, ``check_communicator``, and strategies for Hypothesis.

The strategies are in ``burnpy.testing.strategies``.
"""

from burnpy.testing.check_communicator import check_communicator
from burnpy.testing.check_op import check_op
from burnpy.testing.drawn import Drawn

__all__ = ["Drawn", "check_communicator", "check_op"]
