"""The command ``burnpy``: look at, check, compare and label burnpack files from a shell."""

from burnpy.cli.command_line import main

__all__ = ["main"]
