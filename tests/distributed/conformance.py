"""Every rank of MPI tries everything: ``mpirun -n N python -m tests.distributed.conformance``."""

import sys

from burnpy.distributed import MpiCommunicator, mpi
from burnpy.testing import check_communicator

if __name__ == "__main__":
    ranks = MpiCommunicator()
    if sys.argv[1:] == ["fail"]:
        if ranks.rank == 1:
            raise ArithmeticError("too hot to compute")
        ranks.barrier()
    if sys.argv[1:] == ["full"]:
        mpi._shared_file = lambda nbytes: "/nowhere/at/all"
    check_communicator(ranks)
    assert (ranks.windows() is None) == (sys.argv[1:] == ["full"])
    if ranks.rank == 0:
        print(f"{ranks.size} ranks conform", flush=True)
