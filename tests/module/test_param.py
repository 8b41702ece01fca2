"""Parameters: lazy values, mappers, whether they train."""

import threading

import numpy as np
import pytest

from burnpy import Device, Param, ParamId, Tensor
from burnpy.module import Initializer

CPU = Device.cpu()


def lazy(counter: list[int], shape: tuple[int, ...] = (2, 3)) -> Param:
    def init(device: Device, require_grad: bool) -> Tensor:
        counter.append(1)
        value = Tensor.zeros(shape, CPU)
        value = value.autodiff() if device.is_autodiff() else value
        return value.require_grad() if require_grad else value

    return Param.uninitialized(ParamId.new(), init, CPU.autodiff(), True, shape)


def test_a_lazy_parameter_tells_its_shape_without_being_drawn() -> None:
    drawn: list[int] = []
    param = lazy(drawn)
    assert param.lazy_shape() == (2, 3)
    assert param.lazy_device().is_autodiff()
    assert not param.is_initialized()
    assert drawn == []
    assert param.val().is_require_grad()
    assert drawn == [1]


def test_clones_of_a_lazy_parameter_are_drawn_once_for_all() -> None:
    drawn: list[int] = []
    param = lazy(drawn)
    clones = [param.clone() for _ in range(8)]
    threads = [threading.Thread(target=clone.val) for clone in clones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawn == [1]
    assert all(clone.id == param.id for clone in clones)


def test_a_parameter_of_random_numbers_depends_on_its_declaration_not_on_its_use() -> None:
    from burnpy import manual_seed

    def weights(first: int) -> list[object]:
        manual_seed(3)
        params = [Initializer.Normal(0.0, 1.0).init((4,)) for _ in range(2)]
        params[first].val()
        Tensor.random((5,))
        return [param.val().tolist() for param in params]

    assert weights(0) == weights(1)


def test_what_val_gave_never_changes() -> None:
    param = Param.from_tensor(Tensor([1.0, 2.0]))
    before = param.val()
    param.set_base(Tensor([5.0, 6.0]).require_grad())
    assert before.tolist() == [1.0, 2.0]
    assert param.val().tolist() == [5.0, 6.0]


def test_whether_it_trains_survives_a_device_without_autodiff() -> None:
    param = Param.from_tensor(Tensor([1.0]))
    plain = param.with_device(CPU)
    assert not plain.val().is_require_grad()
    assert plain.active
    assert plain.with_device(CPU.autodiff()).val().is_require_grad()
    frozen = param.clone().set_require_grad(False)
    assert not frozen.with_device(CPU).with_device(CPU.autodiff()).val().is_require_grad()
    assert param.val().is_require_grad()


@pytest.mark.parametrize("drawn_first", [False, True])
def test_mappers_turn_the_form_in_memory_into_that_of_the_file_and_back(drawn_first: bool) -> None:
    param = lazy([], (3, 2)).init_mapper(lambda t: t.transpose())
    param.save_mapper(lambda t: t.transpose()).load_mapper(lambda t: t.transpose())
    if drawn_first:
        param.val()
        assert param.lazy_shape() == (2, 3)
    else:
        assert param.lazy_shape() == (3, 2)
    assert param.record_shape() == (3, 2)
    loaded = param.transform_for_load(Tensor.from_numpy(np.arange(6, dtype=np.float32).reshape(3, 2)))
    assert loaded.shape == (2, 3)
    assert loaded.is_require_grad()
    assert param.transform_for_save().shape == (3, 2)


def test_integers_and_booleans_are_parameters_that_do_not_train() -> None:
    for data, kind in (([1, 2], "int"), ([True, False], "bool")):
        param = Param.from_data(data)
        assert param.kind == kind
        assert not param.val().is_require_grad()


def test_map_keeps_id_and_whether_it_trains() -> None:
    param = Param.from_tensor(Tensor([1.0])).set_require_grad(False)
    mapped = param.map(lambda t: t * 2.0)
    assert mapped.id == param.id
    assert not mapped.val().is_require_grad()
    assert mapped.val().tolist() == [2.0]
    assert param.val().tolist() == [1.0]
