"""`burnpy.torch`: `save_file`, `save`, `save_model`, `load_model`."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import burnpy.numpy  # noqa: E402
import burnpy.torch  # noqa: E402
from burnpy import safe_open, save_sharded  # noqa: E402
from burnpy.errors import DTypeError  # noqa: E402
from burnpy.pack import Reader, Tensor  # noqa: E402
from burnpy.torch import load_file, load_model, save, save_file, save_model  # noqa: E402

pytestmark = pytest.mark.peers

TENSORS: dict[str, Any] = {
    "f32": torch.arange(6.0).reshape(2, 3),
    "requires grad": torch.ones(3, requires_grad=True),
    "parameter": torch.nn.Parameter(torch.ones(3)),
    "bf16": torch.arange(5, dtype=torch.bfloat16),
    "bf16, strided": torch.arange(10, dtype=torch.bfloat16)[::2],
    "f16": torch.arange(5, dtype=torch.float16),
    "transposed": torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1),
    "expanded": torch.tensor([1.5]).expand(4, 3),
    "channels last": torch.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last),
    "negative bit": torch.view_as_complex(torch.ones(3, 2)).conj().imag,
    "0-d": torch.tensor(3, dtype=torch.int8),
    "zero-size": torch.zeros(0, 3, dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "u16": torch.tensor([1, 2], dtype=torch.uint16),
    "u64": torch.tensor([1, 2], dtype=torch.uint64),
    "a part of a storage": torch.arange(10)[3:5],
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    tensor = TENSORS[name]
    save_file({name: tensor}, tmp_path / "model.bpk")
    for loaded in (load_file(tmp_path / "model.bpk")[name], burnpy.torch.load(save({name: tensor}))[name]):
        assert (loaded.shape, loaded.dtype) == (tensor.shape, tensor.dtype)
        assert loaded.tolist() == tensor.tolist() and not loaded.requires_grad


def test_nans_of_bf16_keep_their_bits() -> None:
    bits = torch.tensor([0x7FC1, -1], dtype=torch.int16)
    loaded = burnpy.torch.load(save({"x": bits.view(torch.bfloat16)}))["x"]
    assert loaded.view(torch.int16).tolist() == bits.tolist()


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: torch.zeros(2, dtype=torch.complex64), "complex64"),
        (lambda: torch.zeros(2, 2).to_sparse(), "sparse_coo"),
        (lambda: torch.zeros(2, device="meta"), "meta"),
        (lambda: torch.zeros(2, dtype=torch.float8_e4m3fn), "float8_e4m3fn"),
    ],
)
def test_what_no_burnpack_holds_is_refused_by_name(make: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(DTypeError, match=f"tensor 'odd'.*{what}") as caught:
        save_file({"good": torch.zeros(2), "odd": make()}, tmp_path / "model.bpk")
    assert caught.value.tensor == "odd" and os.listdir(tmp_path) == []


def test_tensors_of_the_container_stand_beside_torchs() -> None:
    reader = Reader.from_bytes(
        save({"a": torch.zeros(2), "b": Tensor("b", "flex32", (1,), 7, bytes(4))}, param_ids={"a": 3})
    )
    assert [(reader.info(name).dtype, reader.info(name).param_id) for name in ("a", "b")] == [
        ("f32", 3),
        ("flex32", 7),
    ]


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a mapping, got Tensor"):
        save(torch.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"burnpy\.torch saves it"):
        burnpy.numpy.save({"x": torch.zeros(2)})


def test_sharded_sets_take_torchs_tensors(tmp_path: Path) -> None:
    index = save_sharded({"a": torch.ones(4), "b": torch.ones(8, dtype=torch.bfloat16)[::2]}, tmp_path, 16)
    assert len(os.listdir(tmp_path)) == 3
    with safe_open(index, framework="pt") as handle:
        assert handle.get_tensor("b").dtype is torch.bfloat16


class Tied(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, value: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.decoder.weight = self.encoder.weight
        self.register_buffer("view", self.encoder.weight.detach()[:1])
        torch.nn.init.constant_(self.encoder.weight, value)


def test_one_tensor_of_a_tie_is_kept_and_the_metadata_notes_it(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_model(Tied(2.0), path, {"k": "v"})
    with safe_open(path) as handle:
        assert set(handle.keys()) == {"decoder.weight", "encoder.bias", "decoder.bias", "view"}
        assert handle.metadata() == {"encoder.weight": "decoder.weight", "k": "v"}
    model = Tied()
    assert load_model(model, path) == (set(), [])
    assert model.encoder.weight is model.decoder.weight and model.encoder.weight[0, 0] == 2.0


def test_a_tie_is_followed_into_a_model_without_it(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_model(Tied(2.0), path)
    model = Tied()
    model.decoder.weight = torch.nn.Parameter(torch.zeros(3, 3))
    assert load_model(model, path) == (set(), [])
    assert model.decoder.weight[0, 0] == model.encoder.weight[0, 0] == 2.0


def test_names_that_differ_are_all_told_before_anything_changes(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_file({"weight": torch.full((2, 3), 5.0), "more": torch.zeros(1), "most": torch.zeros(1)}, path)
    model = torch.nn.Linear(3, 2)
    before = model.weight.clone()
    with pytest.raises(RuntimeError, match=r"missing in the file: bias\n.*not in the model: more, most"):
        load_model(model, path)
    assert torch.equal(model.weight, before)
    assert load_model(model, path, strict=False) == ({"bias"}, ["more", "most"])
    assert torch.equal(model.weight, torch.full((2, 3), 5.0))


def test_shapes_that_differ_are_told_before_anything_changes(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_file({"weight": torch.zeros(3, 2), "bias": torch.ones(2)}, path)
    model = torch.nn.Linear(3, 2)
    before = model.bias.clone()
    with pytest.raises(RuntimeError, match=r"weight: the file has \(3, 2\), the model \(2, 3\)"):
        load_model(model, path, strict=False)
    assert torch.equal(model.bias, before)


def test_contiguity_can_be_asked_for(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    model.weight = torch.nn.Parameter(torch.arange(6.0).reshape(3, 2).T)
    with pytest.raises(ValueError, match="not contiguous, and force_contiguous is off: weight"):
        save_model(model, tmp_path / "model.bpk", force_contiguous=False)
    save_model(model, tmp_path / "model.bpk")
    np.testing.assert_array_equal(load_file(tmp_path / "model.bpk")["weight"], model.weight.detach())


def test_a_model_can_be_saved_over_the_file_that_it_was_loaded_from(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_file({"x": torch.arange(10_000.0)}, path)
    tensors = load_file(path)
    tensors["x"] += 1
    save_file(tensors, path)
    assert torch.equal(load_file(path)["x"], torch.arange(10_000.0) + 1)
