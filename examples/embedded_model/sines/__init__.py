"""A package that carries its model: the record is a file beside the code."""

from functools import cache
from importlib.resources import files

from burnpy import ModuleRecord, Tensor
from sines.model import Sine

__all__ = ["Sine", "load", "sine"]


@cache
def load() -> Sine:
    """The trained model, read from the package's data as bytes: a folder, a zip file or a frozen program will do."""
    record = ModuleRecord.from_bytes(files(__name__).joinpath("model.bpk").read_bytes())
    return Sine.new().load_record(record).valid()


def sine(x: float) -> float:
    """The network's idea of the sine of an angle between -π and π."""
    return load()(Tensor([[x]])).item()
