"""What `import burnpy` brings along."""

import subprocess
import sys

IMPORT = """
import sys
before = set(sys.modules)
import burnpy
print(*sorted(set(sys.modules) - before))
"""

OWN = {"burnpy", "burnpy._core", "burnpy.errors", "burnpy.safe_open"}


def test_the_bare_import_loads_four_modules_of_its_own_and_nothing_heavy() -> None:
    """NumPy alone would take four times as long as all of it; each comes with the first use that needs it."""
    run = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True, text=True)
    loaded = set(run.stdout.split())
    assert {name for name in loaded if name.startswith("burnpy")} == OWN
    assert not {name.split(".")[0] for name in loaded} & {
        "argparse", "asyncio", "dataclasses", "inspect", "jax", "json", "ml_dtypes", "numpy", "pathlib", "re",
        "tempfile", "torch", "typing",
    }  # fmt: skip
