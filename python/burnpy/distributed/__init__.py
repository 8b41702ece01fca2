"""Processes or threads that work on one thing: they pass buffers to each other, and sum them in an order that is fixed.

Example:
    >>> import threading
    >>> import numpy as np
    >>> ranks, buffers = LocalCommunicator.group(2), [np.ones(3), np.full(3, 2.0)]
    >>> threads = [threading.Thread(target=r.all_reduce, args=([b],)) for r, b in zip(ranks, buffers)]
    >>> for thread in threads: thread.start()
    >>> for thread in threads: thread.join()
    >>> buffers[0].tolist(), buffers[1].tolist()
    ([3.0, 3.0, 3.0], [3.0, 3.0, 3.0])
"""

from burnpy.distributed.buckets import Buckets
from burnpy.distributed.communicator import Communicator, CommunicatorError, DistributedBuffer
from burnpy.distributed.files import save_by_ranks, share_of_rank
from burnpy.distributed.local import LocalCommunicator
from burnpy.distributed.mpi import MpiCommunicator
from burnpy.distributed.shards import Shards, sum_in_order, sum_shards

__all__ = [
    "Buckets",
    "Communicator",
    "CommunicatorError",
    "DistributedBuffer",
    "LocalCommunicator",
    "MpiCommunicator",
    "Shards",
    "save_by_ranks",
    "share_of_rank",
    "sum_in_order",
    "sum_shards",
]
