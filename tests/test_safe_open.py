"""The lazy handle: what it lists, what it hands out, what it outlives."""

import gc
import multiprocessing
import pickle
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.numpy import load_file, save_file
from burnpy.pack import InvalidMagicNumber, TensorNotFound, ValidationError, View

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "bias": np.array([1, -2, 0.5], ml_dtypes.bfloat16),
    "empty": np.zeros((0, 2), np.int64),
    "scalar": np.array(7, np.uint8),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.bpk"
    ids = {"weight": 2**64 - 1}
    scalars = {"step": 3, "lr": 0.5, "tied": True, "shift": -1}
    save_file(ARRAYS, path, {"producer": "me"}, scalars=scalars, param_ids=ids)
    return path


def test_a_handle_is_a_mapping_in_data_order(path: Path) -> None:
    with burnpy.safe_open(path) as model:
        assert isinstance(model, Mapping)
        assert list(model) == model.keys() == model.offset_keys() == list(ARRAYS)
        assert len(model) == 4 and "weight" in model and "other" not in model and 3 not in model
        assert all(isinstance(view, View) for view in model.values())
        assert model.get("other") is None
        assert {name: view.shape for name, view in model.items()} == {k: a.shape for k, a in ARRAYS.items()}


def test_metadata_scalars_and_info_are_told_without_reading_payloads(path: Path) -> None:
    with burnpy.safe_open(path, backend="pread") as model:
        assert model.metadata() == {"producer": "me"}
        assert model.scalars() == {"step": 3, "lr": 0.5, "tied": True, "shift": -1}
        assert [type(value) for value in model.scalars().values()] == [float, int, int, bool]
        info = model.info("weight")
        assert (info.name, info.dtype, info.shape) == ("weight", "f32", (3, 4))
        assert (info.param_id, info.offsets, info.nbytes) == (2**64 - 1, (0, 48), 48)
        assert model.info("bias").param_id is None and model.info("bias").dtype == "bf16"


@pytest.mark.parametrize("backend", ["auto", "mmap", "pread"])
def test_tensors_and_slices_equal_what_was_saved(path: Path, backend: Any) -> None:
    with burnpy.safe_open(path, backend=backend) as model:
        for name, array in ARRAYS.items():
            found = model.get_tensor(name)
            assert found.dtype == array.dtype and found.shape == array.shape
            assert np.array_equal(found, array)
        part = model.get_slice("weight")
        assert part.get_shape() == [3, 4] and part.get_dtype() == "f32"
        assert np.array_equal(part[1:, ::2], ARRAYS["weight"][1:, ::2])


def test_writing_what_a_handle_iterates_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    with burnpy.safe_open(path) as model:
        save_file(model, tmp_path / "again.bpk", model.metadata(), scalars=model.scalars())
    assert (tmp_path / "again.bpk").read_bytes() == path.read_bytes()


def test_arrays_outlive_handle_file_name_and_garbage_collection(path: Path) -> None:
    model = burnpy.safe_open(path)
    array, row = model.get_tensor("weight"), model["weight"][1]
    model.close()
    del model
    path.unlink()
    gc.collect()
    assert np.array_equal(array, ARRAYS["weight"]) and np.array_equal(row, ARRAYS["weight"][1])


def test_a_closed_handle_says_which_file_it_was(path: Path) -> None:
    with burnpy.safe_open(path) as model:
        view = model["weight"]
    for use in (model.keys, model.metadata, view.numpy, lambda: view[0], lambda: len(model)):
        with pytest.raises(ValueError, match=r"model\.bpk: the reader is closed"):
            use()
    model.close()


def test_an_unknown_name_is_a_key_error_with_the_nearest_one(path: Path) -> None:
    with burnpy.safe_open(path) as model:
        for ask in (model.__getitem__, model.get_tensor, model.get_slice, model.info):
            with pytest.raises(KeyError, match="weight"):
                ask("wieght")
        with pytest.raises(TensorNotFound) as caught:
            model["other"]
    assert caught.value.tensor == "other" and caught.value.path == str(path)


def test_the_extension_is_tried_when_nothing_is_at_the_path(path: Path, tmp_path: Path) -> None:
    versioned = tmp_path / "model-v1.0.bpk"
    path.rename(versioned)
    assert list(burnpy.safe_open(tmp_path / "model-v1.0")) == list(ARRAYS)
    assert list(load_file(str(tmp_path / "model-v1.0"))) == list(ARRAYS)


def test_a_missing_file_is_told_as_asked_and_as_resolved(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        burnpy.safe_open(tmp_path / "no")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "no"), str(tmp_path / "no.bpk"))
    with pytest.raises(FileNotFoundError) as caught:
        burnpy.safe_open(tmp_path / "no.bpk")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "no.bpk"), None)
    with pytest.raises(IsADirectoryError):
        burnpy.safe_open(tmp_path)


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04" + bytes(300))
    with pytest.raises(InvalidMagicNumber, match="zip"):
        burnpy.safe_open(tmp_path / "model.pt")


def test_arguments_that_cannot_be_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match=r"framework must be one of .* got 'tf'"):
        burnpy.safe_open(path, "tf")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device must be 'cpu' for numpy, got 'cuda'"):
        burnpy.safe_open(path, device="cuda")
    with pytest.raises(TypeError, match=r"filename must be a str or a path of str, got bytes b'm\.bpk'"):
        burnpy.safe_open(b"m.bpk")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="backend must be"):
        burnpy.safe_open(path, backend="other")  # type: ignore[arg-type]


def test_safetensors_words_for_frameworks_are_known(path: Path) -> None:
    for word in ("np", "numpy", "pt", "torch", "pytorch", "jax", "flax"):
        with burnpy.safe_open(path, framework=word) as model:  # type: ignore[arg-type]
            assert np.array_equal(model["weight"], ARRAYS["weight"])


def test_a_pickled_handle_opens_its_path_again(path: Path) -> None:
    with burnpy.safe_open(path, backend="pread") as model:
        with pickle.loads(pickle.dumps(model)) as other:
            assert list(other) == list(model) and np.array_equal(other["weight"], ARRAYS["weight"])
        assert np.array_equal(model["weight"], ARRAYS["weight"])


@pytest.mark.parametrize("backend", ["mmap", "pread"])
@pytest.mark.parametrize("method", ["spawn", "fork"])
# From Python 3.12 on, a fork beside other threads is warned of; here it is what is tested.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_worker_reads_the_handle_that_it_was_given(path: Path, method: str, backend: Any) -> None:
    context = multiprocessing.get_context(method)
    with burnpy.safe_open(path, backend=backend) as model, context.Pool(2) as pool:
        assert pool.map(_Total(model), ["weight", "bias", "empty", "scalar"]) == [66.0, -0.5, 0.0, 7.0]


class _Total:
    def __init__(self, model: burnpy.safe_open) -> None:
        self.model = model

    def __call__(self, name: str) -> float:
        return float(self.model[name].numpy().astype(np.float64).sum())


@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_eight_threads_read_one_handle(path: Path, backend: Any) -> None:
    failures: list[str] = []
    with burnpy.safe_open(path, backend=backend) as model:

        def read() -> None:
            for _ in range(50):
                for name, array in ARRAYS.items():
                    if not np.array_equal(model.get_tensor(name), array):
                        failures.append(name)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_an_index_opens_as_one_mapping(tmp_path: Path) -> None:
    index = burnpy.save_sharded(ARRAYS, tmp_path / "set", 48, metadata={"a": "b"}, scalars={"n": 1})
    with burnpy.safe_open(index) as model:
        assert list(model) == list(ARRAYS) and len(model) == 4
        assert (model.metadata(), model.scalars()) == ({"a": "b"}, {"n": 1})
        assert model.info("bias").dtype == "bf16"
        for name, array in ARRAYS.items():
            assert np.array_equal(model[name], array)
        with pytest.raises(TensorNotFound):
            model["other"]
        assert list(pickle.loads(pickle.dumps(model))) == list(model)
    assert {name: array.shape for name, array in load_file(index).items()} == {
        name: array.shape for name, array in ARRAYS.items()
    }


def test_a_set_that_does_not_agree_with_its_index_is_refused(tmp_path: Path) -> None:
    index = burnpy.save_sharded(ARRAYS, tmp_path, 48)
    first = tmp_path / "model-00001-of-00002.bpk"
    save_file({"other": np.zeros(1)}, first)
    with pytest.raises(ValidationError, match="of the same save"):
        burnpy.safe_open(index)
    first.unlink()
    with pytest.raises(FileNotFoundError):
        burnpy.safe_open(index)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"weight_map": 3}',
        *(f'{{"weight_map": {{"w": {file}}}}}' for file in ('"../w.bpk"', '".."', '"."', '""', "3")),
    ],
)
def test_an_index_that_is_none_or_leads_out_of_its_folder_is_refused(tmp_path: Path, text: str) -> None:
    index = tmp_path / "model.bpk.index.json"
    index.write_text(text)
    with pytest.raises(ValidationError):
        burnpy.safe_open(index)


def test_a_file_cut_while_it_is_read_gives_an_error(path: Path) -> None:
    with burnpy.safe_open(path, backend="pread") as model:
        with path.open("r+b") as file:
            file.truncate(300)
        with pytest.raises(burnpy.pack.IoError, match=r'weight": cut off: bytes \d+ to \d+ are not all'):
            model["weight"].numpy()
