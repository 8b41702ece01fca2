"""Leaves, the walk back, scopes, custom operations, checkpoints."""

import gc
import threading
import weakref
from typing import Any

import pytest

import burnpy as bp
from burnpy import Device, Tensor
from burnpy.autodiff import Context, Function, checkpoint
from burnpy.errors import AutodiffError, DTypeError, ShapeError


def leaf(*values: float) -> Tensor:
    return Tensor(list(values)).require_grad()


class Square(Function):
    @staticmethod
    def forward(ctx: Context, x: Tensor, factor: float) -> Tensor:
        ctx.save(x)
        ctx.factor = factor
        return x * x * factor

    @staticmethod
    def backward(ctx: Context, grad: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved
        return grad * x * (2 * ctx.factor), None


def test_gradients_are_returned_and_add_up_nowhere() -> None:
    x = leaf(2.0, 3.0)
    first, second = (x * x).backward(), (x * x).backward()
    for grads in (first, second):
        gradient = x.grad(grads)
        assert gradient is not None and gradient.tolist() == [4, 6] and not gradient.is_autodiff()
    assert len(first) == 1 and x in first and Tensor([1.0]) not in first


def test_backward_uses_the_graph_up() -> None:
    x = leaf(1.0)
    y = x * x
    y.backward()
    with pytest.raises(AutodiffError, match="consumed") as caught:
        y.backward()
    assert caught.value.operation == "backward"
    with pytest.raises(AutodiffError, match="not tracked"):
        Tensor([1.0]).backward()


def test_gradients_can_be_taken_out_and_replaced() -> None:
    x, y = leaf(1.0), leaf(2.0)
    grads = (x * y).backward()
    x.grad_replace(grads, Tensor([7.0], device=Device.cpu()))
    assert grads[x].item() == 7 and grads.get(y) is not None
    assert y.grad_remove(grads) is not None and y.grad(grads) is None and y.grad_remove(grads) is None
    with pytest.raises(KeyError):
        grads[y]
    with pytest.raises(AutodiffError, match="plain"):
        x.grad_replace(grads, Tensor([7.0]))
    with pytest.raises(ShapeError, match=r"\[2\]"):
        x.grad_replace(grads, Tensor([7.0, 8.0]).inner())
    with pytest.raises(DTypeError):
        x.grad_replace(grads, Tensor([7.0], dtype="f64").inner())


def test_who_may_be_a_leaf() -> None:
    x = leaf(1.0)
    assert x.is_require_grad() and x.is_tracked() and not (x * x).is_require_grad()
    with pytest.raises(AutodiffError, match="without autodiff"):
        x.inner().require_grad()
    with pytest.raises(AutodiffError, match="detach"):
        (x * x).require_grad()
    with pytest.raises(DTypeError):
        Tensor([1]).require_grad()
    assert not x.set_require_grad(False).is_tracked() and x.detach().is_require_grad()
    assert not (x * x).detach().is_tracked() and x.inner().autodiff().is_autodiff()
    assert Tensor.from_inner(x.inner()).is_autodiff() and not Tensor.from_inner(x.inner()).is_tracked()


def test_devices_are_equal_whether_they_do_autodiff_or_not() -> None:
    assert Device() == Device.cpu() and hash(Device()) == hash(Device.cpu())
    assert Device().inner().autodiff().is_autodiff() and not Device().without_autodiff().is_autodiff()
    assert Tensor([1.0]).device.is_autodiff() and repr(Device.cpu()) == "Device.cpu()"
    assert Device().settings() == {"float_dtype": "f32", "int_dtype": "i32"}
    with pytest.raises(bp.errors.DeviceError, match="before the first"):
        Device().configure(float_dtype="f64")


def test_nothing_is_recorded_without_gradients() -> None:
    x = leaf(1.0)
    with bp.no_grad():
        assert not (x * x).is_tracked()
        with bp.no_grad():
            pass
        assert not (x * x).is_tracked()
    assert (x * x).is_tracked()

    @bp.no_grad()
    def double() -> Tensor:
        """Twice."""
        return x + x

    assert not double().is_tracked() and double.__doc__ == "Twice."
    with pytest.raises(ZeroDivisionError), bp.no_grad():
        1 / 0  # noqa: B018
    assert (x * x).is_tracked()


def test_another_thread_goes_on_recording() -> None:
    x, seen = leaf(1.0), []
    with bp.no_grad():
        thread = threading.Thread(target=lambda: seen.append((x * x).is_tracked()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_custom_operation_has_its_gradient() -> None:
    x = leaf(2.0, 3.0)
    y = Square.apply(x, 0.5)
    assert y.tolist() == [2, 4.5] and y.is_tracked()
    assert (y * y).backward()[x].tolist() == [8, 27]
    assert not Square.apply(Tensor([1.0]), 0.5).is_tracked()


def test_what_a_custom_operation_raises_comes_out_as_it_is() -> None:
    failure = ZeroDivisionError("mine")

    class Broken(Square):
        @staticmethod
        def backward(ctx: Context, grad: Tensor) -> Any:
            raise failure

    with pytest.raises(ZeroDivisionError) as caught:
        Broken.apply(leaf(1.0), 1.0).backward()
    assert caught.value is failure


def test_gradients_of_a_custom_operation_are_checked() -> None:
    class Short(Square):
        @staticmethod
        def backward(ctx: Context, grad: Tensor) -> Any:
            return grad

    class Wrong(Square):
        @staticmethod
        def backward(ctx: Context, grad: Tensor) -> Any:
            return Tensor([1.0, 2.0]), None

    with pytest.raises(AutodiffError, match="1 gradients for 2"):
        Short.apply(leaf(1.0), 1.0).backward()
    with pytest.raises(ShapeError, match=r"Wrong: a gradient of shape \[2\]"):
        Wrong.apply(leaf(1.0), 1.0).backward()


def test_a_custom_operation_lets_go_of_what_it_saved() -> None:
    class Holder:
        pass

    class Keep(Square):
        @staticmethod
        def forward(ctx: Context, x: Tensor, factor: Any) -> Tensor:
            ctx.holder = factor
            ctx.factor = 1.0
            ctx.save(x)
            return x * x

    holder = Holder()
    alive = weakref.ref(holder)
    y = Keep.apply(leaf(1.0), holder)
    del holder
    gc.collect()
    assert alive() is not None
    y.backward()
    gc.collect()
    assert alive() is None


def test_a_checkpoint_gives_the_same_gradients_and_runs_twice() -> None:
    x, w, calls = leaf(2.0), leaf(3.0), []

    def run(x: Tensor) -> Tensor:
        calls.append(None)
        return x * x * w

    y = checkpoint(run, x)
    assert y.item() == 12 and len(calls) == 1
    grads = (y * x).backward()
    assert len(calls) == 2 and grads[x].item() == 36 and grads[w].item() == 8


def test_what_a_checkpoint_raises_comes_out_as_it_is() -> None:
    def fail(x: Tensor) -> Tensor:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        checkpoint(fail, leaf(1.0))


def test_a_long_chain_goes_forward_back_and_away() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(200_000):
        y = y + x
    assert y.backward()[x].item() == 200_001
    y = x
    for _ in range(200_000):
        y = y + x
    del y
