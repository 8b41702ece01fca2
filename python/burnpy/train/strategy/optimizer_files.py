"""An optimizer's record, of which each rank writes a part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.distributed import save_by_ranks, share_of_rank

if TYPE_CHECKING:
    from burnpy.distributed import Communicator
    from burnpy.record import OptimizerRecord

__all__ = ["save_part"]


def save_part(communicator: Communicator, path: Path, record: OptimizerRecord) -> None:
    """Write this rank's part of a record that all ranks have, as a set of files whose index is beside ``path``.

    Raises:
        CommunicatorError: a rank could not write its part.
    """
    tensors, metadata, scalars = record._content()
    own = share_of_rank([tensor.byte_len() for tensor in tensors], communicator.size, communicator.rank)
    mine = [tensors[i] for i in own]
    save_by_ranks(
        communicator,
        {tensor.name: tensor for tensor in mine},
        path.parent,
        name=path.stem,
        metadata=metadata,
        scalars=scalars,
        param_ids={tensor.name: tensor.param_id for tensor in mine if tensor.param_id is not None},
        durable=True,
    )
