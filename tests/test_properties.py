"""What must hold for any container, not only for those that somebody thought of."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices

import burnpy
from burnpy._typing import Backend
from burnpy.errors import BurnpyError
from burnpy.numpy import load, load_file, save, save_file
from burnpy.pack import Reader, Scalar, Tensor, Writer
from burnpy.testing import strategies
from burnpy.testing.strategies import Array, Container
from tests.golden_containers import bits

BACKENDS: tuple[Backend, ...] = ("mmap", "pread")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that the examples write again and again."""
    return tmp_path_factory.mktemp("properties") / "model.bpk"


def _same(found: Array, expected: Array) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


def _check_order(names: list[str], tensors: dict[str, Array]) -> None:
    """In the order of their data; tensors without any may share a place, and have no order then."""
    assert [name for name in names if tensors[name].nbytes] == [
        name for name in tensors if tensors[name].nbytes
    ]


def _save(container: Container) -> bytes:
    return save(
        container.tensors, container.metadata, scalars=container.scalars, param_ids=container.param_ids
    )


@given(container=strategies.containers())
def test_loading_gives_what_was_saved_bit_for_bit(path: Path, container: Container) -> None:
    save_file(
        container.tensors, path, container.metadata, scalars=container.scalars, param_ids=container.param_ids
    )
    loaded = [load_file(path, backend=backend) for backend in BACKENDS]
    loaded += [load_file(path, copy=True), load(path.read_bytes())]
    for arrays in loaded:
        assert arrays.keys() == container.tensors.keys()
        _check_order(list(arrays), container.tensors)
        for name, expected in container.tensors.items():
            _same(arrays[name], expected)


@pytest.mark.parametrize("backend", BACKENDS)
@given(container=strategies.containers())
def test_a_handle_tells_what_was_saved(path: Path, backend: Backend, container: Container) -> None:
    path.write_bytes(_save(container))
    with burnpy.safe_open(path, backend=backend, strict=True) as handle:
        assert set(handle) == set(container.tensors)
        _check_order(list(handle.keys()), container.tensors)
        assert handle.metadata() == container.metadata
        assert {name: handle.info(name).param_id for name in handle} == {
            name: container.param_ids.get(name) for name in container.tensors
        }
        for name, expected in container.tensors.items():
            _same(np.asarray(handle[name]), expected)


@given(container=strategies.containers())
def test_scalars_keep_their_kind_and_their_bits(container: Container) -> None:
    reader = Reader.from_bytes(_save(container))
    found = {name: bits(scalar) for name, scalar in reader.scalars().items()}
    assert found == {name: bits(scalar) for name, scalar in container.scalars.items()}


@given(
    entries=st.lists(strategies.tensors(), max_size=6, unique_by=lambda tensor: tensor.name),
    metadata=st.dictionaries(strategies.texts(), strategies.texts(), max_size=3),
    scalars=st.dictionaries(strategies.texts(), strategies.scalars(), max_size=3),
)
def test_every_dtype_survives_and_is_written_to_the_same_bytes_again(
    entries: list[Tensor], metadata: dict[str, str], scalars: dict[str, Scalar]
) -> None:
    data = Writer(entries, metadata, scalars).into_bytes()
    reader = Reader.from_bytes(data, strict=True)
    assert reader.problems() == []
    found = {tensor.name: tensor for tensor in reader.into_tensors()}
    for entry in entries:
        assert found[entry.name].into_parts() == entry.into_parts()
    again = [found[entry.name] for entry in entries]
    assert Writer(again, reader.metadata(), reader.scalars()).into_bytes() == data


@given(container=strategies.containers())
def test_the_order_of_metadata_and_scalars_does_not_change_the_bytes(container: Container) -> None:
    def turned(entries: dict[str, Any]) -> dict[str, Any]:
        return dict(reversed(entries.items()))

    other = Container(
        container.tensors, turned(container.metadata), turned(container.scalars), turned(container.param_ids)
    )
    assert _save(other) == _save(container)


@given(arrays=st.lists(strategies.layouts(), min_size=1, max_size=4))
def test_an_array_is_saved_the_same_however_it_lies_in_memory(arrays: list[Array]) -> None:
    tensors = {f"tensor.{index}": array for index, array in enumerate(arrays)}
    loaded = load(save(tensors))
    for name, array in tensors.items():
        _same(loaded[name], np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape))


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=st.data())
def test_an_index_into_a_lazy_view_gives_what_numpy_gives(
    path: Path, backend: Backend, data: st.DataObject
) -> None:
    array = data.draw(strategies.arrays())
    index = data.draw(basic_indices(array.shape, min_dims=0, max_dims=8, allow_newaxis=True))
    save_file({"before": np.arange(7), "x": array, "after": np.arange(9)}, path)
    with burnpy.safe_open(path, backend=backend) as handle:
        view, expected = handle["x"], np.asarray(array[index])
        assert (view.shape, view.ndim, view.size, view.nbytes) == (
            array.shape,
            array.ndim,
            array.size,
            array.nbytes,
        )
        _same(np.asarray(view[index]), expected)
        _same(np.asarray(handle.get_slice("x")[index]), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@given(data=st.data())
def test_a_damaged_file_is_an_error_or_a_container_and_never_a_crash(
    path: Path, backend: Backend, data: st.DataObject
) -> None:
    container = data.draw(strategies.containers(max_tensors=3))
    damaged = data.draw(strategies.damaged(_save(container)))
    path.write_bytes(damaged)
    for strict in (False, True):
        _read_all(lambda strict=strict: Reader.from_bytes(damaged, strict=strict))
        _read_all(lambda strict=strict: Reader.from_file(path, strict=strict, backend=backend))
    _check_that_files_without_problems_are_burns(damaged)
    _try(lambda: load(damaged))
    _try(lambda: load_file(path, backend=backend))
    _try(lambda: load_file(path, copy=True))


def _read_all(opening: Any) -> None:
    """Whatever opens must be readable, but for tensors that no scheme describes, and writable again."""
    reader = _try(opening)
    if reader is None:
        return
    reader.metadata(), reader.scalars(), reader.problems()
    for name in reader.tensor_names():
        info = reader.info(name)
        payload = _try(lambda name=name: reader.tensor_data(name))
        assert payload is None or len(payload) == info.nbytes
    tensors = _try(reader.into_tensors)
    if tensors is not None:
        data = Writer(tensors, reader.metadata(), reader.scalars()).into_bytes()
        # Flipped bits may have made a boolean 2; that is content, and a copy keeps it.
        problems = Reader.from_bytes(data, strict=True).problems()
        assert all("not 0 or 1" in str(problem) for problem in problems)


def _check_that_files_without_problems_are_burns(data: bytes) -> None:
    """Where nothing is found but odd booleans, Burn's writer would have written the file, and so does burnpy's."""
    reader = _try(lambda: Reader.from_bytes(data))
    if reader is not None and all("not 0 or 1" in str(problem) for problem in reader.problems()):
        tensors = {tensor.name: tensor for tensor in reader.into_tensors()}
        in_data_order = [tensors[name] for name in reader.keys()]  # noqa: SIM118 (not a mapping)
        assert Writer(in_data_order, reader.metadata(), reader.scalars()).into_bytes() == data


def _try(act: Any) -> Any:
    try:
        return act()
    except BurnpyError:
        return None
