"""`burnpy.convert`: what is carried, what is told, and what is left as it was when something is wrong."""

import json
import os
import pickle
import resource
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.errors import AlreadyExists, BurnpyError, CheckpointError, DTypeError, IoError
from burnpy.numpy import load_file, save_file
from burnpy.pack import QuantScheme, Reader, Scalar, Tensor
from burnpy.store import ModuleAdapter, NameCollision, PathFilter
from tests.paths import GOLDEN, ROOT

FULL = "model.bpk"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model() -> Path:
    """A burnpack with everything that other formats lack: ids, kinds of scalars, dtypes, an order of its own."""
    tensors = {
        "z.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "a.weight": np.array([1.5, -2.0], np.float16),
        "mask": np.array([True, False]),
        "flex": Tensor("flex", "flex32", (2,), data=np.array([1, 2], np.float32).tobytes()),
        "bool8": Tensor("bool8", "bool(u8)", (3,), data=b"\1\0\1"),
        "bool32": Tensor("bool32", "bool(u32)", (2,), data=b"\1\0\0\0\0\0\0\0"),
        "empty": np.zeros((0, 4), np.int64),
        "scalar": np.array(7, np.uint16),
        "ünï.日本": np.ones(2),
    }
    scalars = {
        "lr": 0.1,
        "int": Scalar.int_(3),
        "uint": Scalar.uint(2**64 - 1),
        "nan": float("nan"),
        "minus": float("-inf"),
        "flag": True,
    }
    ids = {"z.weight": 2**64 - 1, "mask": 0}
    save_file(tensors, FULL, {"author": "me", "note": "ünï"}, scalars=scalars, param_ids=ids)
    return Path(FULL)


def content(path: str | Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    with burnpy.open(path) as checkpoint:
        views = checkpoint.values()
        return {view.name: (view.dtype, view.shape, bytes(np.asarray(view).tobytes())) for view in views}


# There and back.


@pytest.mark.parametrize(
    "through", ["model.safetensors", "model.npz", "s.safetensors.index.json", "s.bpk.index.json"]
)
def test_a_burnpack_comes_back_from_another_format_to_the_same_bytes(model: Path, through: str) -> None:
    burnpy.convert(model, through, shard=60 if "index" in through else None)
    burnpy.convert(through, "back.bpk")
    assert Path("back.bpk").read_bytes() == model.read_bytes()


@pytest.mark.parametrize("through", ["there.bpk", "there.npz"])
def test_a_safetensors_file_comes_back_to_the_same_bytes(model: Path, through: str) -> None:
    burnpy.convert(model, "a.safetensors")
    burnpy.convert("a.safetensors", through)
    burnpy.convert(through, "b.safetensors")
    assert Path("a.safetensors").read_bytes() == Path("b.safetensors").read_bytes()


def test_converting_twice_gives_the_same_bytes(model: Path) -> None:
    for target in ("a.safetensors", "a.npz", "a.bpk"):
        burnpy.convert(model, target)
        first = Path(target).read_bytes()
        burnpy.convert(model, target)
        assert Path(target).read_bytes() == first


def test_metadata_and_scalars_travel(model: Path) -> None:
    report = burnpy.convert(model, "a.safetensors")
    with burnpy.open("a.safetensors") as checkpoint:
        metadata = checkpoint.metadata()
    assert metadata["author"] == "me" and metadata["note"] == "ünï"
    assert json.loads(metadata["burnpy.scalars"])["uint"] == {"UInt": 2**64 - 1}
    assert report.metadata == {"author": "me", "note": "ünï"}
    assert report.scalars["lr"] == 0.1


def test_a_key_of_burnpy_that_somebody_else_has_written_stays_metadata() -> None:
    save_file({"w": np.ones(2, np.float32)}, "a.bpk", {"burnpy.order": "no json"})
    burnpy.convert("a.bpk", "b.bpk")
    assert Reader.from_file("b.bpk").metadata() == {"burnpy.order": "no json"}
    with pytest.raises(CheckpointError, match=r"burnpy\.order.*keeps this key"):
        burnpy.convert("a.bpk", "b.npz")


def test_numpy_loads_what_was_written_as_npz(model: Path) -> None:
    burnpy.convert(model, "a.npz")
    with np.load("a.npz", allow_pickle=False) as archive:
        assert archive["z.weight"].tolist() == np.arange(12, dtype=np.float32).reshape(3, 4).tolist()
        assert archive["scalar"].shape == () and archive["empty"].shape == (0, 4)


def test_every_checksum_of_an_npz_is_right_also_of_a_member_that_two_threads_read() -> None:
    save_file({"large": np.arange(1 << 20, dtype=np.float32), "ünï": np.ones(3)}, "a.bpk", {"key": "text"})
    burnpy.convert("a.bpk", "a.npz")
    with zipfile.ZipFile("a.npz") as archive:
        assert archive.testzip() is None
        assert [info.filename for info in archive.infolist()] == ["large.npy", "ünï.npy", "__metadata__.json"]


def test_safetensors_of_many_dtypes_keep_every_value() -> None:
    source = GOLDEN / "safetensors" / "dtypes_all.safetensors"
    if not source.is_file():
        pytest.skip("no golden data")
    burnpy.convert(source, "same.safetensors")
    assert content("same.safetensors") == content(source)


def test_several_files_have_an_index_and_no_leftovers(model: Path) -> None:
    burnpy.convert(model, "s.safetensors", shard=20)
    before = sorted(Path().glob("s-*.safetensors"))
    report = burnpy.convert(model, "s.safetensors", shard="1KB")
    assert report.destination == "s.safetensors.index.json"
    assert sorted(report.files) == sorted([*map(str, Path().glob("s-*")), "s.safetensors.index.json"])
    assert len(before) > len(list(Path().glob("s-*.safetensors"))) == 1
    assert content("s.safetensors.index.json") == content("s-00001-of-00001.safetensors")


# PyTorch's checkpoints.


@pytest.mark.golden
def test_a_checkpoint_of_pytorch_is_carried_value_by_value() -> None:
    source = GOLDEN / "pytorch" / "model_sequential_zip.pt"
    burnpy.convert(source, "a.bpk")
    burnpy.convert("a.bpk", "a.safetensors")
    assert content("a.bpk") == content(source) == content("a.safetensors")


@pytest.mark.golden
def test_the_model_of_a_lightning_checkpoint_is_found_and_said() -> None:
    report = burnpy.convert(GOLDEN / "pytorch" / "lightning.ckpt", "a.bpk")
    assert report.top_level_key == "state_dict"
    assert "net.first.weight" in report.written
    assert any(name.startswith("optimizer_states.") for name in report.left_out)
    assert "top-level key: state_dict" in str(report)
    whole = burnpy.convert(GOLDEN / "pytorch" / "lightning.ckpt", "b.bpk", top_level_key=None)
    assert "state_dict.net.first.weight" in whole.written and not whole.left_out


@pytest.mark.golden
def test_every_name_of_a_tie_is_written_and_the_tie_noted() -> None:
    report = burnpy.convert(GOLDEN / "pytorch" / "tied_weights.pt", "a.bpk")
    assert report.ties
    arrays = load_file("a.bpk")
    for tie in report.ties:
        assert len({arrays[name].tobytes() for name in tie}) == 1 < len(tie)


@pytest.mark.golden
def test_nothing_in_a_hostile_checkpoint_is_executed_or_carried() -> None:
    with pytest.raises(BurnpyError):
        burnpy.convert(GOLDEN / "pytorch" / "hostile_system_root.pt", "a.bpk")
    assert os.listdir() == []


# The adapter.


def _checkpoint_of_layers() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    shapes = {
        "fc.weight": (5, 3), "fc.bias": (5,), "square.weight": (4, 4), "norm.weight": (3,), "norm.bias": (3,),
        "bn.weight": (3,), "bn.bias": (3,), "bn.running_mean": (3,), "bn.running_var": (3,),
        "conv.weight": (2, 3, 3, 3), "embed.weight": (7, 3), "attn.in_proj_weight": (12, 4),
    }  # fmt: skip
    return {name: rng.random(shape, np.float32) for name, shape in shapes.items()}


def test_the_pytorch_adapter_transposes_linear_weights_and_renames_norms() -> None:
    tensors = _checkpoint_of_layers()
    np.savez("a.npz", **tensors)
    report = burnpy.convert("a.npz", "a.bpk", adapter="pytorch")
    found = load_file("a.bpk")
    assert list(found) == [
        "fc.weight", "fc.bias", "square.weight", "norm.gamma", "norm.beta", "bn.gamma", "bn.beta",
        "bn.running_mean", "bn.running_var", "conv.weight", "embed.weight", "attn.in_proj_weight",
    ]  # fmt: skip
    for name in ("fc.weight", "square.weight"):
        assert np.array_equal(found[name], tensors[name].T)
    for new, old in (
        ("norm.gamma", "norm.weight"),
        ("bn.beta", "bn.bias"),
        ("conv.weight",) * 2,
        ("embed.weight",) * 2,
    ):
        assert np.array_equal(found[new], tensors[old])
    told = {adapted.name: (adapted.change, adapted.reason) for adapted in report.adapted}
    assert told["fc.weight"] == ("transposed", "Linear: weight of 2 axes with a bias")
    assert told["bn.gamma"] == ("renamed from 'weight'", "BatchNorm: running_mean and running_var")
    assert list(report.unconverted) == ["attn.in_proj_weight"]


def test_the_way_back_gives_the_checkpoint_that_was_there() -> None:
    np.savez("a.npz", **_checkpoint_of_layers())
    burnpy.convert("a.npz", "a.bpk", adapter="pytorch")
    burnpy.convert("a.bpk", "b.npz", adapter="burn-to-pytorch")
    assert content("b.npz") == content("a.npz")


def test_an_adapter_of_ones_own_is_applied() -> None:
    class Doubled(ModuleAdapter):
        def adapt(self, tensor: Any, ctx: Any) -> Any:
            return tensor.map_data(tensor.name, tensor.dtype, tensor.shape, lambda array: array * 2)

    np.savez("a.npz", w=np.array([1.0, 2.0]))
    report = burnpy.convert("a.npz", "a.bpk", adapter=Doubled())
    assert load_file("a.bpk")["w"].tolist() == [2.0, 4.0]
    assert report.adapted[0].change == "changed by Doubled()"


# Choosing, renaming, casting.


def test_only_and_drop_see_the_names_of_the_source_and_map_renames_what_stays(model: Path) -> None:
    report = burnpy.convert(model, "a.bpk", only=[r"\.weight$", "^flex"], drop="^a", map={"^z": "a"})
    assert report.written == ["a.weight", "flex"]
    assert report.dropped[0] == "a.weight" and len(report.dropped) == 7


def test_map_takes_pairs_in_turn(model: Path) -> None:
    report = burnpy.convert(model, "a.bpk", map=[("^z", "head"), (r"^head\.(\w+)$", "${1}.head")])
    assert ("weight.head", "z.weight") in report.renamed
    assert load_file("a.bpk")["weight.head"].shape == (3, 4)


def test_patterns_that_match_nothing_are_told(model: Path) -> None:
    maps = [("^z", "head"), ("^z", "tail"), ("^head", "body")]
    report = burnpy.convert(model, "a.bpk", map=maps, only=["^z", "^q"], drop=["^lr$", "^nothing"])
    assert report.written == ["body.weight"]
    assert report.unused == [("only", "^q"), ("drop", "^nothing"), ("map", "^z")]
    assert "matches nothing (3):" in str(report) and "  map ^z" in str(report)


def test_a_filter_object_chooses_too(model: Path) -> None:
    report = burnpy.convert(model, "a.bpk", only=PathFilter(full_paths=["mask"]))
    assert report.written == ["mask"] and "z.weight" in report.dropped


def test_dtype_casts_floats_and_nothing_else(model: Path) -> None:
    report = burnpy.convert(model, "a.bpk", dtype="bf16")
    found = load_file("a.bpk")
    assert found["z.weight"].dtype == ml_dtypes.bfloat16 and found["flex"].dtype == ml_dtypes.bfloat16
    assert found["mask"].dtype == np.bool_ and found["empty"].dtype == np.int64
    assert ("z.weight", "f32", "bf16") in report.cast
    assert found["z.weight"].astype(np.float32).tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_a_large_tensor_is_transposed_and_cast_piece_by_piece_to_the_same_values() -> None:
    weight = np.random.default_rng(0).random((3000, 2500), np.float32)
    np.savez("a.npz", **{"fc.weight": weight})
    burnpy.convert("a.npz", "a.bpk", adapter="pytorch", dtype="f16")
    assert np.array_equal(load_file("a.bpk")["fc.weight"], weight.T.astype(np.float16))


# What the target cannot hold.


def _lossy() -> Path:
    from tests.store.test_open import write_safetensors

    eight = np.array([1, 2], np.uint8)
    return write_safetensors(
        Path("lossy.safetensors"),
        {
            "c": ("C64", np.array([1 + 2j], np.complex64)),
            "f": ("F8_E4M3", eight.view(ml_dtypes.float8_e4m3fn)),
            "w": ("F32", np.ones(2, np.float32)),
        },
    )


def test_all_that_the_target_cannot_hold_is_told_at_once_and_nothing_is_written() -> None:
    _lossy()
    with pytest.raises(CheckpointError) as caught:
        burnpy.convert("lossy.safetensors", "a.bpk")
    assert caught.value.kind == "cannot be written"
    assert [lost.name for lost in caught.value.report.lost] == ["c", "f"]  # type: ignore[attr-defined]
    assert "no dtype for c64" in str(caught.value) and "no dtype for f8e4m3fn" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).report.lost[0].name == "c"
    assert os.listdir() == ["lossy.safetensors"]


def test_drop_dtype_and_allow_loss_settle_it() -> None:
    _lossy()
    report = burnpy.convert("lossy.safetensors", "a.bpk", drop="^c$", dtype="f32")
    assert report.written == ["f", "w"] and report.is_lossless()
    assert (
        load_file("a.bpk")["f"].tolist() == np.array([1, 2], np.uint8).view(ml_dtypes.float8_e4m3fn).tolist()
    )
    report = burnpy.convert("lossy.safetensors", "a.bpk", allow_loss=True)
    assert report.written == ["w"] and not report.is_lossless()
    assert "lost (2):" in str(report)


def test_a_quantized_tensor_is_told_of_and_stays_in_a_burnpack() -> None:
    save_file({"q": Tensor("q", QuantScheme(value="Q8F"), (4, 4), data=bytes(20))}, "a.bpk")
    burnpy.convert("a.bpk", "b.bpk")
    assert Path("b.bpk").read_bytes() == Path("a.bpk").read_bytes()
    with pytest.raises(CheckpointError, match="no dtype for qfloat"):
        burnpy.convert("a.bpk", "b.safetensors")


@pytest.mark.parametrize(("target", "name"), [("a.safetensors", "__metadata__"), ("a.npz", "x\0y")])
def test_a_name_that_the_target_does_not_have_is_a_loss(target: str, name: str) -> None:
    save_file({name: np.ones(1), "w": np.ones(1)}, "a.bpk")
    with pytest.raises(CheckpointError, match="cannot be written"):
        burnpy.convert("a.bpk", target)
    assert burnpy.convert("a.bpk", target, allow_loss=True).written == ["w"]


# What is wrong before anything is opened or written.


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"only": "("}, ValueError, "unclosed"),
        ({"drop": ["["]}, ValueError, "unclosed"),
        ({"map": [("(", "x")]}, ValueError, "unclosed"),
        ({"map": [("(a)", r"\1")]}, ValueError, r"write \$\{1\}"),
        ({"dtype": "f7"}, DTypeError, "f7"),
        ({"dtype": "i32"}, DTypeError, "must be a float"),
        ({"adapter": "keras"}, ValueError, "'pytorch'"),
        ({"shard": "much"}, ValueError, "shard must be"),
        ({"format": "onnx"}, ValueError, "safetensors"),
        ({"only": [3]}, TypeError, "only must be patterns"),
    ],
)
def test_a_wrong_argument_is_told_and_nothing_is_written(
    model: Path, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        burnpy.convert(model, "out.bpk", **options)
    assert os.listdir() == [FULL]


@pytest.mark.parametrize(("target", "words"), [("a.pt", "never written"), ("a", "does not tell a format")])
def test_a_target_of_no_written_format_is_told(model: Path, target: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        burnpy.convert(model, target)


def test_a_format_that_is_asked_for_counts_more_than_the_suffix(model: Path) -> None:
    burnpy.convert(model, "weights", format="safetensors")
    with burnpy.open("weights") as checkpoint:
        assert checkpoint.format == "safetensors"


def test_two_tensors_of_one_name_are_an_error_that_names_both(model: Path) -> None:
    with pytest.raises(NameCollision, match=r"'z\.weight' and 'a\.weight'"):
        burnpy.convert(model, "out.bpk", map={r"^.\.": "x."})
    assert os.listdir() == [FULL]


def test_a_source_that_is_not_there_is_pythons_own_error() -> None:
    with pytest.raises(FileNotFoundError):
        burnpy.convert("missing.pt", "a.bpk")


def test_a_key_that_is_not_there_is_told_with_those_that_are(model: Path) -> None:
    with pytest.raises(CheckpointError, match="'z', 'a'") as caught:
        burnpy.convert(model, "a.bpk", top_level_key="state_dict")
    assert caught.value.kind == "missing key"


def test_a_burnpack_whose_only_field_is_called_module_keeps_its_names() -> None:
    save_file({"module.weight": np.ones(2)}, "a.bpk")
    assert burnpy.convert("a.bpk", "b.bpk").written == ["module.weight"]


# What is at the target stays, unless all went well.


@pytest.mark.parametrize("target", ["out.bpk", "out.safetensors", "out.npz"])
def test_without_overwrite_what_is_there_stays(model: Path, target: str) -> None:
    Path(target).write_text("old")
    with pytest.raises(AlreadyExists):
        burnpy.convert(model, target, overwrite=False)
    assert Path(target).read_text() == "old"
    burnpy.convert(model, target)
    assert Path(target).read_bytes() != b"old"


def test_a_dry_run_checks_reports_and_writes_nothing(model: Path) -> None:
    report = burnpy.convert(model, "out.safetensors", shard=50, dry_run=True)
    assert report.dry_run and "would be written" in str(report)
    assert len(report.files) > 2
    assert os.listdir() == [FULL]


def test_a_conversion_onto_its_own_source_is_safe(model: Path) -> None:
    before = content(model)
    burnpy.convert(model, model, drop="^mask$")
    assert content(model) == {name: entry for name, entry in before.items() if name != "mask"}


@pytest.mark.skipif(os.name != "posix", reason="limits are Unix's")
@pytest.mark.parametrize("target", ["out.bpk", "out.safetensors", "out.npz", "out.bpk.index.json"])
def test_a_full_disk_leaves_what_was_there_and_no_scratch(target: str) -> None:
    save_file({f"w{i}": np.ones(100_000, np.float32) for i in range(4)}, FULL)
    Path(target).write_text("old")
    before = sorted(os.listdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        with pytest.raises(IoError) as caught:
            burnpy.convert(FULL, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == 27  # EFBIG
    assert Path(target).read_text() == "old"
    assert sorted(os.listdir()) == before


def test_a_tensor_that_cannot_be_read_leaves_nothing_behind() -> None:
    np.savez_compressed("a.npz", good=np.ones(10), bad=np.arange(1000.0))
    with zipfile.ZipFile("a.npz") as archive:
        info = archive.getinfo("bad.npy")
    data = bytearray(Path("a.npz").read_bytes())
    data[info.header_offset + 100 : info.header_offset + 140] = bytes(40)
    Path("b.npz").write_bytes(data)
    for target in ("out.bpk", "out.safetensors", "out.npz"):
        with pytest.raises(BurnpyError):
            burnpy.convert("b.npz", target)
    assert sorted(os.listdir()) == ["a.npz", "b.npz"]


def test_a_new_file_has_the_mode_of_the_umask_and_an_old_one_keeps_its(model: Path) -> None:
    for target in ("new.safetensors", "new.npz", "new.bpk"):
        old = os.umask(0o027)
        try:
            burnpy.convert(model, target)
        finally:
            os.umask(old)
        assert Path(target).stat().st_mode & 0o777 == 0o640
        Path(target).chmod(0o600)
        burnpy.convert(model, target)
        assert Path(target).stat().st_mode & 0o777 == 0o600


# Progress, and how much memory it takes.


@pytest.mark.parametrize("target", ["out.bpk", "out.safetensors", "out.npz"])
def test_progress_is_told_of_every_tensor_and_of_the_end(model: Path, target: str) -> None:
    seen: list[tuple[str, int, int]] = []
    report = burnpy.convert(model, target, progress=lambda *told: seen.append(told))
    assert {name for name, _, _ in seen} == {*report.written, ""}
    assert seen[-1] == ("", report.nbytes, report.nbytes)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_an_interrupt_comes_through_and_leaves_nothing(model: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        burnpy.convert(model, "out.bpk", progress=stop)
    assert os.listdir() == [FULL]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("b.bpk", ""),
        ("b.safetensors", ""),
        ("b.npz", ""),
        ("b.bpk", ", adapter='pytorch'"),
        ("b.bpk", ", dtype='bf16'"),
    ],
)
def test_the_most_memory_is_that_of_the_largest_tensor(target: str, options: str) -> None:
    largest = np.ones((4096, 2048), np.float32)  # 32 MiB
    save_file({f"layer{i}.weight": largest for i in range(16)}, "a.bpk")
    code = f"""
        import burnpy, numpy, ml_dtypes
        import burnpy.store.convert, burnpy.store.npz_writer
        def peak():
            return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]) << 10
        before = peak()
        burnpy.convert("a.bpk", "{target}"{options})
        print(peak() - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < largest.nbytes + (60 << 20)


def test_an_import_of_the_package_does_not_import_conversions() -> None:
    code = "import burnpy, sys; print([name for name in sys.modules if name.startswith('burnpy.store')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 65), (130, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, ml_dtypes.bfloat16, np.float32, np.int64])
def test_a_matrix_of_any_element_is_transposed(shape: tuple[int, int], dtype: Any) -> None:
    weight = (np.arange(shape[0] * shape[1]) % 120).reshape(shape).astype(dtype)
    save_file({"fc.weight": weight}, "a.bpk")
    burnpy.convert("a.bpk", "b.bpk", adapter="pytorch")
    found = load_file("b.bpk")["fc.weight"]
    assert found.shape == shape[::-1] and found.tobytes() == weight.T.tobytes()


def test_numbers_that_do_not_agree_are_refused_by_the_transposition() -> None:
    from burnpy import _core

    out = bytearray(12)
    for cols, element, out_cols, at in ((3, 1, 2, 3), (5, 1, 4, 0), (3, 3, 4, 0), (0, 1, 4, 0), (3, 1, 2, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            _core.transpose_rows(bytes(12), cols, element, out, out_cols, at)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("burnpy.scalars", '{"lr":{"Float":1.0}}'),
        ("burnpy.param_ids", '{"w":7}'),
        ("burnpy.order", "[]"),
        ("burnpy.dtypes", '{"w":"flex32"}'),
    ],
)
def test_in_a_burnpack_a_key_of_the_passport_is_a_text_like_any_other(key: str, text: str) -> None:
    save_file({"w": np.ones(2, np.float32)}, "a.bpk", {key: text})
    burnpy.convert("a.bpk", "b.bpk")
    assert Path("b.bpk").read_bytes() == Path("a.bpk").read_bytes()
    with pytest.raises(CheckpointError, match="burnpy keeps this key for itself"):
        burnpy.convert("a.bpk", "b.safetensors")
