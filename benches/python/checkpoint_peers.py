"""Who opens and converts checkpoints: burnpy, and what a user has without it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benches.python.peers import Npz, Peer, Safetensors, SafetensorsTorch, Torch

ANY = ""
"""The suffix of a peer that reads every format."""


class BurnpyOpen(Peer):
    """``burnpy.open``, the same for all formats."""

    name = "burnpy"
    module = "burnpy"
    suffix = ANY

    def __init__(self) -> None:
        import burnpy

        self.open, self.convert_file = burnpy.open, burnpy.convert

    def names(self, path: Path) -> Iterable[str]:
        with self.open(path) as checkpoint:
            return checkpoint.keys()

    def load(self, path: Path) -> Any:
        with self.open(path) as checkpoint:
            return {name: view.numpy() for name, view in checkpoint.items()}

    def load_copy(self, path: Path) -> Any:
        with self.open(path) as checkpoint:
            return {name: np.array(view) for name, view in checkpoint.items()}

    def one(self, path: Path, name: str) -> Any:
        with self.open(path) as checkpoint:
            return checkpoint[name].numpy()

    def one_copy(self, path: Path, name: str) -> Any:
        with self.open(path) as checkpoint:
            return np.array(checkpoint[name])

    def convert(self, source: Path, target: Path) -> None:
        self.convert_file(source, target)


class TorchMapped(Torch):
    """The laziest that torch has."""

    name = "torch.load (mmap)"

    def load_copy(self, path: Path) -> Any:
        return {name: tensor.clone() for name, tensor in self.load(path).items()}

    def convert(self, source: Path, target: Path) -> None:
        """The two lines that a user writes; torch and safetensors must be there."""
        if target.suffix != ".safetensors":
            raise NotImplementedError
        from safetensors.torch import save_file

        save_file(self.load(source), target)


class TorchPlain(Torch):
    """torch as most people call it: everything is read."""

    name = "torch.load"

    def load(self, path: Path) -> Any:
        return self.load_copy(path)


CHECKPOINT_PEERS: dict[str, type[Peer]] = {
    peer.name: peer for peer in (BurnpyOpen, TorchMapped, TorchPlain, SafetensorsTorch, Safetensors, Npz)
}
"""By name, burnpy first. Each but burnpy reads the format of its suffix alone."""
