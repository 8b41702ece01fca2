"""The peak memory of one conversion, printed in bytes; ``checkpoint_rows.py`` starts this in a process of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python.checkpoint_peers import CHECKPOINT_PEERS
from benches.python.memory import peak_of

NO_SUCH_VERB = 2


def main(name: str, source: str, target: str, small: str) -> None:
    peer, path = CHECKPOINT_PEERS[name](), Path(target)
    try:
        peer.convert(Path(small), path)  # what is imported at the first use is not the row's
    except NotImplementedError:
        sys.exit(NO_SUCH_VERB)
    path.unlink()
    print(peak_of(lambda: peer.convert(Path(source), path)))


if __name__ == "__main__":
    main(*sys.argv[1:])
