"""A run as a user writes it, renderer and all left to burnpy: for the tests of where it may run.

python -m tests.train.small_run FOLDER
"""

import sys
from pathlib import Path

from tests.train.toy import learner, training


def main(folder: str) -> None:
    run = training(Path(folder), epochs=2, summary=True, label="small")
    result = run.launch(learner())
    print("after:", sorted(result.history["valid"]))


if __name__ == "__main__":
    main(sys.argv[1])
