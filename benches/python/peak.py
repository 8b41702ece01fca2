"""The peak memory of one row with one peer, printed in bytes; ``rows.py`` starts this in a process of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python.cases import all_cases, one_tensor
from benches.python.memory import peak_of
from benches.python.peers import PEERS, Peer


def main(name: str, key: str, row: str, file: str, size: str) -> None:
    peer, path = PEERS[name](), Path(file)
    case = all_cases(quick=size == "quick")[key]
    warm_up(peer, path.with_name(f"warm-up{peer.suffix}"))
    if row == "load all, untouched":
        peak = peak_of(lambda: peer.load(path))
    elif row == "load, private copy":
        peak = peak_of(lambda: peer.load_copy(path))
    elif row == "save":
        tensors = peer.tensors(case.arrays)
        peak = peak_of(lambda: peer.save(tensors, path))
        path.unlink()
    else:
        tensors = peer.tensors(case.arrays)
        peak = peak_of(lambda: peer.to_bytes(tensors))
    print(peak)


def warm_up(peer: Peer, path: Path) -> None:
    """What is imported at the first use is not the row's."""
    tensors = peer.tensors(one_tensor(1 << 16).arrays)
    peer.save(tensors, path)
    peer.load_copy(path)
    peer.to_bytes(tensors)
    path.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
