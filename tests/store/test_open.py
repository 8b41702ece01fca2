"""`burnpy.open`: one mapping over any checkpoint, whatever it is called and whoever closes it."""

import copy
import gc
import json
import os
import pickle
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.errors import CheckpointError, Error, TensorNotFound, ValidationError
from burnpy.numpy import save_file
from burnpy.pack import Limits, Scalar
from burnpy.store.checkpoint import Checkpoint
from tests.paths import GOLDEN

Header = dict[str, Any]

W = np.arange(12, dtype=np.float32).reshape(3, 4)
B = np.array([1.5, -2.0, 0.25], ml_dtypes.bfloat16)


def write_safetensors(path: Path, arrays: dict[str, tuple[str, np.ndarray[Any, Any]]], **extra: Any) -> Path:
    """A safetensors file; each array comes with the name of its dtype in the file."""
    header: Header = dict(extra)
    at = 0
    for name, (dtype, array) in arrays.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(
        len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for _, array in arrays.values())
    )
    return path


def _safetensors(folder: Path) -> Path:
    return write_safetensors(
        folder / "model.safetensors", {"w": ("F32", W), "b": ("BF16", B)}, __metadata__={"format": "pt"}
    )


def _burnpack(folder: Path) -> Path:
    save_file({"w": W, "b": B}, folder / "model.bpk", {"format": "pt"}, scalars={"epoch": 3})
    return folder / "model.bpk"


def _npz(folder: Path) -> Path:
    np.savez(folder / "model.npz", w=W, i=np.arange(3))
    return folder / "model.npz"


def _pytorch(folder: Path) -> Path:
    return Path(shutil.copy(GOLDEN / "pytorch" / "lightning.ckpt", folder / "model.ckpt"))


def _index(folder: Path) -> Path:
    write_safetensors(folder / "model-00001-of-00002.safetensors", {"w": ("F32", W)})
    write_safetensors(folder / "model-00002-of-00002.safetensors", {"b": ("BF16", B)})
    homes = {"w": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 54}, "weight_map": homes}))
    return path


FORMATS: dict[str, Callable[[Path], Path]] = {
    "burnpack": _burnpack,
    "safetensors": _safetensors,
    "npz": _npz,
    "pytorch zip": _pytorch,
    "safetensors index": _index,
}
every_format = pytest.mark.parametrize("kind", FORMATS)


@pytest.fixture
def made(tmp_path: Path, kind: str) -> Path:
    return FORMATS[kind](tmp_path)


@every_format
def test_a_checkpoint_is_a_mapping_of_lazy_views(made: Path, kind: str) -> None:
    with burnpy.open(made) as checkpoint:
        assert checkpoint.format == kind
        assert list(checkpoint) == checkpoint.keys() == [view.name for view in checkpoint.values()]
        for name, view in checkpoint.items():
            info = checkpoint.info(name)
            found = (view.dtype, view.shape, view.nbytes, view.ndim, view.param_id, view.scheme)
            assert found == (info.dtype, info.shape, info.nbytes, len(info.shape), info.param_id, info.scheme)
            array = view.numpy()
            assert (array.shape, array.size) == (view.shape, view.size)
            assert bytes(view) == array.tobytes() == np.asarray(view).tobytes()
            assert name in checkpoint


@every_format
def test_views_are_windows_that_nobody_can_write_to(made: Path, kind: str) -> None:
    for view in burnpy.open(made).values():
        assert not view.numpy().flags.writeable
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            view.numpy().setflags(write=True)


@every_format
def test_arrays_outlive_the_checkpoint(made: Path, kind: str) -> None:
    checkpoint = burnpy.open(made)
    arrays = {name: view.numpy() for name, view in checkpoint.items()}
    copies = {name: array.tobytes() for name, array in arrays.items()}
    checkpoint.close()
    del checkpoint
    gc.collect()
    assert {name: array.tobytes() for name, array in arrays.items()} == copies


@every_format
def test_a_closed_checkpoint_says_so_whatever_is_asked(made: Path, kind: str) -> None:
    checkpoint = burnpy.open(made)
    name, view = next(iter(checkpoint.items()))
    checkpoint.close()
    asked: list[Callable[[], Any]] = [
        checkpoint.keys, checkpoint.metadata, checkpoint.scalars, view.numpy,
        lambda: checkpoint[name], lambda: checkpoint.info(name), lambda: len(checkpoint), lambda: bytes(view),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(ValueError, match="closed"):
            ask()
    assert "closed" in repr(checkpoint)
    checkpoint.close()


def test_a_closed_checkpoint_of_which_a_part_is_shown_says_so_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{"net.w": W, "ema.w": W})
    checkpoint = burnpy.open(tmp_path / "a.npz", top_level_key="net")
    assert (checkpoint.keys(), len(checkpoint), "w" in checkpoint) == (["w"], 1, True)
    checkpoint.close()
    asked: list[Callable[[], Any]] = [
        checkpoint.keys, lambda: len(checkpoint), lambda: "w" in checkpoint, lambda: list(checkpoint),
        lambda: checkpoint["w"], lambda: checkpoint["nope"], lambda: checkpoint.info("w"),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(ValueError, match=r"a\.npz.*closed"):
            ask()
    assert "closed" in repr(checkpoint)


def test_a_path_with_a_nul_is_named() -> None:
    with pytest.raises(ValueError, match=r"path must have no NUL in it, got 'nul\\x00x'"):
        burnpy.open("nul\0x")


@every_format
def test_a_checkpoint_pickles_by_its_path(
    made: Path, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made.parent)
    checkpoint = burnpy.open(made.name)
    monkeypatch.chdir("/")
    for again in (pickle.loads(pickle.dumps(checkpoint)), copy.copy(checkpoint)):
        assert again.keys() == checkpoint.keys()
        assert all(bytes(again[name]) == bytes(view) for name, view in checkpoint.items())


@every_format
def test_an_unknown_name_is_a_key_error_with_the_nearest_one(made: Path, kind: str) -> None:
    checkpoint = burnpy.open(made)
    name = checkpoint.keys()[0]
    for ask in (checkpoint.__getitem__, checkpoint.info):
        with pytest.raises(TensorNotFound, match="no tensor is named") as caught:
            ask(f"{name}x")
        assert (caught.value.tensor, caught.value.path) == (f"{name}x", str(made))
    assert checkpoint.get(f"{name}x") is None
    assert f"{name}x" not in checkpoint


@every_format
def test_indices_are_numpys_basic_ones(made: Path, kind: str) -> None:
    for view in burnpy.open(made).values():
        array = view.numpy()
        indices: list[Any] = [..., (), None] + (
            [0, slice(None, None, -1), (slice(1, None), ...)] if array.ndim else []
        )
        for index in indices:
            found, expected = view[index], array[index]
            assert type(found) is type(expected)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            assert found.tobytes() == expected.tobytes()
        with pytest.raises(IndexError):
            view[tuple([0] * (array.ndim + 1))]
        with pytest.raises(IndexError):
            view[[0]]


# ---- what a file is


@pytest.mark.parametrize("name", ["weights", "weights.bin", "weights.data", "model.v2"])
@pytest.mark.parametrize("kind", ["burnpack", "safetensors", "npz", "pytorch zip"])
def test_the_content_says_what_a_file_is_and_not_its_name(tmp_path: Path, kind: str, name: str) -> None:
    path = FORMATS[kind](tmp_path).rename(tmp_path / name)
    assert burnpy.open(path).format == kind


def test_an_index_is_found_under_another_name(tmp_path: Path) -> None:
    path = _index(tmp_path).rename(tmp_path / "all.json")
    assert burnpy.open(path).keys() == ["w", "b"]


def test_a_name_without_its_suffix_finds_the_burnpack(tmp_path: Path) -> None:
    _burnpack(tmp_path)
    assert burnpy.open(tmp_path / "model").keys() == burnpy.open(tmp_path / "model.bpk").keys()


def test_a_pytorch_file_that_is_called_safetensors_is_taken_for_what_it_is(tmp_path: Path) -> None:
    path = Path(shutil.copy(GOLDEN / "pytorch" / "model_linear_zip.pt", tmp_path / "model.safetensors"))
    assert burnpy.open(path).format == "pytorch zip"


def test_a_path_that_is_missing_or_a_folder_raises_pythons_own_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        burnpy.open("nothing.pt")
    assert (missing.value.filename, missing.value.filename2) == ("nothing.pt", str(tmp_path / "nothing.pt"))
    with pytest.raises(IsADirectoryError):
        burnpy.open(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_permission_error(tmp_path: Path) -> None:
    path = _safetensors(tmp_path)
    path.chmod(0)
    with pytest.raises(PermissionError):
        burnpy.open(path)
    path.chmod(stat.S_IRUSR)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", CheckpointError),
        (b"NRUB", Error),
        (b"\x80\x02", CheckpointError),
        (b"PK\x03\x04", CheckpointError),
        (b"PK\x05\x06" + bytes(18), CheckpointError),
        (b"{}", CheckpointError),
        (bytes(range(256)), CheckpointError),
    ],
)
def test_bytes_that_are_no_checkpoint_are_refused(
    tmp_path: Path, content: bytes, error: type[Exception]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(error) as caught:
        burnpy.open(path)
    assert str(path) in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), vars(again)) == (str(caught.value), vars(caught.value))


def test_any_truncation_is_an_error_or_a_checkpoint(tmp_path: Path) -> None:
    for kind in ("safetensors", "npz", "pytorch zip"):
        whole = FORMATS[kind](tmp_path).read_bytes()
        for length in {*range(0, len(whole), max(1, len(whole) // 60)), len(whole) - 1}:
            path = tmp_path / "cut"
            path.write_bytes(whole[:length])
            try:
                with burnpy.open(path) as checkpoint:
                    assert all(len(bytes(view)) == view.nbytes for view in checkpoint.values())
            except CheckpointError:
                pass


# ---- element types


BYTE_FLOATS = {
    "F8_E4M3": ("f8e4m3fn", ml_dtypes.float8_e4m3fn),
    "F8_E5M2": ("f8e5m2", ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": ("f8e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": ("f8e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    "F8_E8M0": ("f8e8m0fnu", ml_dtypes.float8_e8m0fnu),
}


@pytest.mark.parametrize("name", BYTE_FLOATS)
def test_floats_of_one_byte_have_the_dtypes_of_ml_dtypes(tmp_path: Path, name: str) -> None:
    text, dtype = BYTE_FLOATS[name]
    array = np.array([0.5, 1.0, 4.0]).astype(dtype)
    view = burnpy.open(write_safetensors(tmp_path / "file", {"w": (name, array)}))["w"]
    assert (view.dtype, view.numpy().dtype) == (text, np.dtype(dtype))
    assert view.numpy().astype(np.float32).tolist() == array.astype(np.float32).tolist()
    with pytest.raises(BufferError, match=text):
        memoryview(view)


def test_elements_without_a_numpy_dtype_come_as_their_bytes(tmp_path: Path) -> None:
    packed = np.arange(4, dtype=np.uint8)
    header = {"w": {"dtype": "F4", "shape": [2, 4], "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    path = tmp_path / "file"
    path.write_bytes(len(text).to_bytes(8, "little") + text + packed.tobytes())
    view = burnpy.open(path)["w"]
    assert (view.dtype, view.shape, view.nbytes, view.size) == ("f4e2m1fn", (2, 4), 4, 8)
    assert view.numpy().tolist() == packed.tolist()
    with pytest.raises(TypeError, match="cannot be indexed"):
        view[0]


def test_strided_and_repeated_tensors_are_windows_too() -> None:
    with burnpy.open(GOLDEN / "pytorch" / "view_transposed.pt") as checkpoint:
        arrays = [view.numpy() for view in checkpoint.values()]
        assert any(not array.flags.c_contiguous for array in arrays)
        assert not any(array.flags.owndata for array in arrays)
    with burnpy.open(GOLDEN / "pytorch" / "view_expanded.pt") as checkpoint:
        assert any(0 in view.numpy().strides for view in checkpoint.values())


def test_arrays_of_numpy_can_be_taken_through_dlpack(tmp_path: Path) -> None:
    checkpoint = burnpy.open(_safetensors(tmp_path))
    taken = np.from_dlpack(checkpoint["w"])
    assert taken.tolist() == W.tolist()
    assert checkpoint["w"].numpy().tolist() == W.tolist()


# ---- limits


def test_limits_bound_files_tensors_and_headers(tmp_path: Path) -> None:
    path = _safetensors(tmp_path)
    for limits, what in [
        (Limits(max_file_bytes=50), "the file's length"),
        (Limits(max_tensors=1), "the number of tensors"),
        (Limits(max_tensor_bytes=40), "its size is 48"),
        (Limits(max_metadata_bytes=10), "the header's length"),
    ]:
        with pytest.raises(CheckpointError, match=what) as caught:
            burnpy.open(path, limits=limits)
        assert caught.value.kind == "over limit"
        assert caught.value.found is not None and caught.value.limit is not None


def test_limits_bound_pickles_and_arrays_of_numpy(tmp_path: Path) -> None:
    npz, pytorch = _npz(tmp_path), _pytorch(tmp_path)
    for path in (npz, pytorch):
        with pytest.raises(CheckpointError, match="over the limit of 1"):
            burnpy.open(path, limits=Limits(max_tensors=1))
    checkpoint = burnpy.open(pytorch, limits=Limits(max_tensor_bytes=16))
    with pytest.raises(CheckpointError, match="its size is 32, over the limit of 16"):
        checkpoint["state_dict.net.first.weight"].numpy()
    with pytest.raises(CheckpointError, match="the depth of containers is 3"):
        burnpy.open(pytorch, limits=Limits(max_depth=2))


def test_limits_reach_burnpacks(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        burnpy.open(_burnpack(tmp_path), limits=Limits(max_tensors=1))


# ---- what is beside the tensors


def test_texts_and_numbers_come_from_where_a_format_keeps_them(tmp_path: Path) -> None:
    assert burnpy.open(_safetensors(tmp_path)).metadata() == {"format": "pt"}
    burnpack = burnpy.open(_burnpack(tmp_path))
    assert (burnpack.metadata(), burnpack.scalars()) == ({"format": "pt"}, {"epoch": 3})
    assert burnpack.typed_scalars() == {"epoch": Scalar.uint(3)}
    pytorch = burnpy.open(_pytorch(tmp_path))
    assert pytorch.metadata()["pytorch-lightning_version"] == "2.5.1"
    assert pytorch.scalars()["epoch"] == 5
    assert pytorch.scalars()["optimizer_states.0.param_groups.0.foreach"] is None


def test_offsets_are_those_of_the_header(tmp_path: Path) -> None:
    assert burnpy.open(_safetensors(tmp_path)).info("b").data_offsets == (48, 54)
    assert burnpy.open(_burnpack(tmp_path)).info("b").data_offsets is not None
    assert burnpy.open(_npz(tmp_path)).info("w").data_offsets is None


def test_what_is_skipped_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "odd.npz", w=W, o=np.array([{}], object), r=np.zeros(2, [("x", "<i4")]), t=np.array("text")
    )
    checkpoint = burnpy.open(tmp_path / "odd.npz")
    found = {skipped.name: (skipped.kind, skipped.dtype) for skipped in checkpoint.skipped()}
    assert found["o"] == ("numpy.ndarray", "object")
    assert found.keys() == {"o", "r", "t"}
    with pytest.raises(KeyError, match=r"'o' was skipped: it is numpy\.ndarray of object"):
        checkpoint["o"]


# ---- npz


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_gives_back_what_numpy_saved(tmp_path: Path, save: Callable[..., None]) -> None:
    arrays: dict[str, Any] = {
        "by_rows": W, "by_columns": np.asfortranarray(W), "big": W.astype(">f8"), "scalar": np.float16(3),
        "big_columns": np.asfortranarray(W.astype(">i2")), "empty": np.zeros((0, 3)), "flags": W > 3, "z": W + 1j,
    }  # fmt: skip
    save(tmp_path / "file.npz", **arrays)
    with burnpy.open(tmp_path / "file.npz") as checkpoint:
        assert checkpoint.keys() == list(arrays)
        for name, array in arrays.items():
            found = checkpoint[name].numpy()
            assert (found.shape, found.dtype) == (array.shape, array.dtype.newbyteorder("<")), name
            assert np.array_equal(found, array), name
            assert bytes(checkpoint[name]) == array.astype(found.dtype).tobytes(), name


def test_stored_arrays_are_windows_and_deflated_ones_are_not(tmp_path: Path) -> None:
    np.savez(tmp_path / "stored.npz", w=W)
    np.savez_compressed(tmp_path / "deflated.npz", w=W)
    stored, deflated = burnpy.open(tmp_path / "stored.npz")["w"], burnpy.open(tmp_path / "deflated.npz")["w"]
    address = [view.numpy().__array_interface__["data"][0] for view in (stored, stored, deflated, deflated)]
    assert address[0] == address[1]
    assert stored.numpy().tolist() == deflated.numpy().tolist() == W.tolist()


def test_a_flipped_bit_in_a_deflated_array_is_seen(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "file.npz", w=np.random.default_rng(0).random(1000))
    data = bytearray((tmp_path / "file.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "file.npz").write_bytes(data)
    with pytest.raises(CheckpointError) as caught:
        burnpy.open(tmp_path / "file.npz")["w"].numpy()
    assert caught.value.kind in ("checksum", "malformed archive", "truncated")
    assert caught.value.tensor == "w"


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (36893488147419103232, 0)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').getpid(),)}",
        "{'descr': 7, 'fortran_order': False, 'shape': ()}",
        "(" * 5000,
        "",
    ],
)
def test_a_header_of_npy_that_lies_is_refused(tmp_path: Path, header: str) -> None:
    text = header.encode()
    npy = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + W[:2, 0].tobytes()
    with zipfile.ZipFile(tmp_path / "file.npz", "w") as archive:
        archive.writestr("w.npy", npy)
    with pytest.raises(CheckpointError):
        burnpy.open(tmp_path / "file.npz")


def test_two_arrays_of_one_name_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", W)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.write(tmp_path / "w.npy", "w.npy")
        archive.write(tmp_path / "w.npy", "w.npy")
    with pytest.raises(CheckpointError, match="two arrays have the name 'w'"):
        burnpy.open(tmp_path / "f.npz")


# ---- several files


def test_an_index_that_leads_to_an_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"a": path.name}}))
    with (
        burnpy.open(path) as checkpoint,
        pytest.raises(CheckpointError, match="an index, where a file") as told,
    ):
        checkpoint["a"]
    assert told.value.kind == "malformed index"


def test_what_the_index_does_not_place_is_told(tmp_path: Path) -> None:
    path = _index(tmp_path)
    write_safetensors(tmp_path / "model-00002-of-00002.safetensors", {"b": ("BF16", B), "stray": ("F32", W)})
    checkpoint = burnpy.open(path)
    assert checkpoint.keys() == ["w", "b"]
    assert [(skipped.name, skipped.kind) for skipped in checkpoint.skipped()] == [
        ("stray", "not placed in model-00002-of-00002.safetensors by the index")
    ]


def test_an_index_reaches_burnpacks_too(tmp_path: Path) -> None:
    index = burnpy.save_sharded(
        {"w": W, "b": B}, tmp_path, max_shard_bytes=50, metadata={"k": "v"}, scalars={"epoch": 3}
    )
    checkpoint = burnpy.open(index)
    assert (checkpoint.format, checkpoint.keys()) == ("burnpack index", ["w", "b"])
    assert (checkpoint.metadata(), checkpoint.scalars()) == ({"k": "v"}, {"epoch": 3})
    assert checkpoint["b"].numpy().tolist() == B.tolist()


def test_a_missing_file_is_told_when_one_of_its_tensors_is_asked_for(tmp_path: Path) -> None:
    path = _index(tmp_path)
    (tmp_path / "model-00002-of-00002.safetensors").unlink()
    checkpoint = burnpy.open(path)
    assert checkpoint["w"].numpy().tolist() == W.tolist()
    for ask in (checkpoint.__getitem__, checkpoint.info):
        with pytest.raises(
            CheckpointError, match=r"'model-00002-of-00002\.safetensors', which does not exist"
        ) as caught:
            ask("b")
        assert (caught.value.kind, caught.value.tensor) == ("missing shard", "b")


# ---- the model inside a checkpoint


@pytest.mark.golden
@pytest.mark.parametrize(
    ("file", "key", "stripped", "first"),
    [
        ("lightning.ckpt", "state_dict", (), "net.steps"),
        ("checkpoint_ddp_zip.pth.tar", "state_dict", ("module.",), "0.weight"),
        ("checkpoint_ddp_legacy.pth.tar", "state_dict", ("module.",), "0.weight"),
        ("checkpoint_plain_zip.pth.tar", "model", (), "0.weight"),
        ("checkpoint_protocol_4.pt", "model_state_dict", (), "0.weight"),
    ],
)
def test_auto_finds_the_model_and_says_what_it_chose(
    file: str, key: str, stripped: tuple[str, ...], first: str
) -> None:
    whole = burnpy.open(GOLDEN / "pytorch" / file)
    assert whole.chosen is None
    checkpoint = burnpy.open(GOLDEN / "pytorch" / file, top_level_key="auto")
    chosen = checkpoint.chosen
    assert chosen is not None
    assert (chosen.top_level_key, chosen.stripped) == (key, stripped)
    assert checkpoint.keys()[0] == first
    assert repr(key) in str(chosen)
    assert sorted([*chosen.names.values(), *chosen.left_out]) == sorted(whole)
    for name, view in checkpoint.items():
        assert bytes(view) == bytes(whole[chosen.names[name]])
        assert view.name == checkpoint.info(name).name == name
    assert checkpoint.scalars()["epoch"] == whole.scalars()["epoch"]
    again: Checkpoint = pickle.loads(pickle.dumps(checkpoint))
    assert again.keys() == checkpoint.keys()


@pytest.mark.golden
def test_a_key_shows_what_is_below_it() -> None:
    path = GOLDEN / "pytorch" / "lightning.ckpt"
    checkpoint = burnpy.open(path, top_level_key="optimizer_states.0")
    assert checkpoint.keys()[0] == "state.0.momentum_buffer"
    assert checkpoint.scalars()["param_groups.0.lr"] == 0.1
    with pytest.raises(CheckpointError, match="'nothing'; there are 'state_dict'") as caught:
        burnpy.open(path, top_level_key="nothing")
    assert caught.value.kind == "missing key"


def test_auto_leaves_names_alone_that_nothing_wraps(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "f", {"model.w": ("F32", W), "head.b": ("BF16", B)})
    checkpoint = burnpy.open(path, top_level_key="auto")
    assert (checkpoint.chosen, checkpoint.keys()) == (None, ["model.w", "head.b"])


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["module.w", "module.b"], ["w", "b"]),
        (["_orig_mod.w", "_orig_mod.b"], ["w", "b"]),
        (["_orig_mod.module.w", "_orig_mod.module.b"], ["w", "b"]),
        (["module._orig_mod.w", "module._orig_mod.b"], ["w", "b"]),
        (["encoder._orig_mod.w", "head.b"], ["encoder.w", "head.b"]),
        (["module.w", "b"], ["module.w", "b"]),
        (["_orig_mod.w", "w"], ["_orig_mod.w", "w"]),
    ],
)
def test_auto_takes_wrappers_off_names_where_no_two_become_one(
    tmp_path: Path, names: list[str], shown: list[str]
) -> None:
    path = write_safetensors(tmp_path / "f", {names[0]: ("F32", W), names[1]: ("BF16", B)})
    checkpoint = burnpy.open(path, top_level_key="auto")
    assert checkpoint.keys() == shown
    assert checkpoint[shown[0]].numpy().tolist() == W.tolist()
