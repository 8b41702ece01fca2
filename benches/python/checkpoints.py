"""Checkpoints as others make them: the same models, as files of PyTorch, safetensors and NumPy."""

from dataclasses import dataclass

from benches.python.cases import Case, gpt2, llama
from benches.python.peers import PEERS, Arrays, Peer

MAKERS = {".pt": "torch", ".safetensors": "safetensors.numpy", ".npz": "numpy.npz", ".bpk": "burnpy"}


@dataclass(frozen=True)
class Checkpoint(Case):
    """A case as a file of one format, written by the format's own library."""

    suffix: str
    content: Case

    @property
    def arrays(self) -> Arrays:
        return self.content.arrays  # made once for all formats

    @property
    def maker(self) -> type[Peer]:
        return PEERS[MAKERS[self.suffix]]

    @property
    def largest(self) -> int:
        """Bytes of the largest tensor."""
        return max(map(self.byte_len, self.shapes))


def all_checkpoints(*, quick: bool = False) -> dict[str, Case]:
    """The checkpoints by name: one model in four formats, and a large one for conversions."""
    model, large = (gpt2(64, 5000), llama(64, 3200)) if quick else (gpt2(768, 50257), llama(1600, 32000))
    cases = [_checkpoint(suffix.removeprefix("."), suffix, model) for suffix in MAKERS]
    return {case.key: case for case in [*cases, _checkpoint("large-pt", ".pt", large)]}


def _checkpoint(key: str, suffix: str, content: Case) -> Checkpoint:
    what = f"{content.what}, as {suffix}"
    return Checkpoint(key, what, content.shapes, content.dtype, content.one, suffix, content)
