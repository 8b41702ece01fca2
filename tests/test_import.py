"""What `import burnpy` costs."""

import subprocess
import sys

IMPORT = """
import time
start = time.process_time()
import burnpy
print(time.process_time() - start)
"""


def test_the_bare_import_takes_less_than_30_ms() -> None:
    """The least of several, in time of this process alone: other programs on the machine are not burnpy's fault."""
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True) for _ in range(7)]
    assert min(float(run.stdout) for run in runs) < 0.030
