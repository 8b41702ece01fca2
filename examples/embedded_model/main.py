"""Ask a model that lies inside a package.

Run it with ``python examples/embedded_model/main.py``.
"""

import math

from sines import load, sine


def main() -> None:
    """Print the model and what it makes of a few angles."""
    print(load())
    for angle in (-2.0, -1.0, 0.0, 0.5, 1.5, 3.0):
        print(f"sine of {angle:4.1f}: {sine(angle):8.5f}, true {math.sin(angle):8.5f}")


if __name__ == "__main__":
    main()
