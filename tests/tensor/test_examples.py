"""The examples in the docstrings of the core's classes, which no module of Python holds."""

import doctest

import pytest

from burnpy import Device, Tensor
from burnpy.autodiff import Gradients

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("cls", [Tensor, Device, Gradients])
def test_examples_give_what_they_say(cls: type) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    tests = [test for test in doctest.DocTestFinder().find(cls, cls.__name__, globs={}) if test.examples]
    assert tests
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_every_method_says_what_it_does() -> None:
    silent = [name for name in dir(Tensor) if not name.startswith("_") and not getattr(Tensor, name).__doc__]
    assert not silent
