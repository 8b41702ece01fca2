"""What a type checker sees of the public API. `make lint` checks this file; nothing runs it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, assert_type

import numpy as np

import burnpy
from burnpy.numpy import load, load_file, save, save_file
from burnpy.pack import Reader, Scalar, Tensor, TensorInfo, View, Writer
from burnpy.store import (
    BurnpackStore,
    ConversionReport,
    Lost,
    PytorchStore,
    SafetensorsStore,
    TensorSnapshot,
)

Array = np.ndarray[Any, Any]


def files(arrays: dict[str, Array], path: Path) -> None:
    assert_type(save(arrays), bytes)
    save_file(
        arrays, path, {"author": "me"}, scalars={"lr": 1e-3, "step": Scalar.uint(3)}, param_ids={"w": 7}
    )
    assert_type(load_file(path), dict[str, Array])
    assert_type(load_file(path, with_metadata=True), tuple[dict[str, Array], dict[str, str]])
    assert_type(load(save(arrays)), dict[str, Array])
    assert_type(burnpy.save_sharded(arrays, path.parent, 1 << 30), Path)


def handle(path: Path) -> None:
    with burnpy.safe_open(path, framework="np", backend="pread") as model:
        assert_type(model, burnpy.safe_open)
        mapping: Mapping[str, View] = model
        assert_type(mapping["w"], View)
        assert_type(iter(model), Iterator[str])
        assert_type(model.keys(), list[str])
        assert_type(model.info("w"), TensorInfo)
        assert_type(model.info("w").param_id, int | None)
        assert_type(model.metadata(), dict[str, str])
        assert_type(model.scalars(), dict[str, bool | int | float])
        assert_type(model["w"].numpy(), Array)


def checkpoint(path: Path) -> None:
    with burnpy.open(path, top_level_key="auto") as opened:
        assert_type(opened.keys(), list[str])
        assert_type(opened.info("w").shape, tuple[int, ...])
        assert_type(opened["w"].numpy(), Array)
        assert_type(opened.ties(), list[list[str]])


def conversion(path: Path) -> None:
    report = burnpy.convert(path, "model.bpk", map=[("^a", "b")], adapter="pytorch", dtype="bf16")
    assert_type(report, ConversionReport)
    assert_type(report.written, list[str])
    assert_type(report.lost, list[Lost])


def stores(path: Path) -> None:
    store = SafetensorsStore.from_file(path, overwrite=True).with_regex("^fc").metadata("author", "me")
    assert_type(store, SafetensorsStore)
    assert_type(store.get_tensor("w"), TensorSnapshot | None)
    assert_type(BurnpackStore.from_bytes().get_bytes(), bytes)
    assert_type(PytorchStore.from_file(path, top_level_key=None).keys(), list[str])


def container(path: Path) -> None:
    deferred = Tensor.deferred("w", dtype="bf16", shape=(2, 3), provider=lambda: bytes(12))
    writer = Writer([deferred]).with_metadata("author", "me").with_scalar("step", 3)
    assert_type(writer, Writer)
    assert_type(writer.into_bytes(), bytes)
    reader = Reader.from_file(path, strict=True)
    assert_type(reader.tensor_names(), list[str])
    assert_type(reader.into_tensors(), list[Tensor])
    assert_type(reader.scalars(), dict[str, Scalar])


def errors(error: burnpy.pack.Error) -> None:
    caught: burnpy.BurnpyError = error
    assert_type(error.kind, str)
    assert_type(error.found, int | None)
    assert_type(caught.args, tuple[Any, ...])


def layers(x: burnpy.Tensor) -> None:
    assert_type(burnpy.nn.LinearConfig(3, 5, bias=False).init(), burnpy.nn.Linear)
    assert_type(burnpy.nn.LinearConfig(3, 5).init().forward(x), burnpy.Tensor)
    conv = burnpy.nn.Conv2dConfig((3, 8), (3, 3), padding=burnpy.nn.PaddingConfig2d.Explicit(1, 2, 1, 2))
    assert_type(conv.init(burnpy.Device.cpu()), burnpy.nn.conv.Conv2d)
    assert_type(conv.kernel_size, tuple[int, int])
    pool = burnpy.nn.MaxPool2dConfig((2, 2), strides=(1, 1)).init()
    assert_type(pool.forward(x), burnpy.Tensor)
    norm = burnpy.nn.NormalizationConfig.Batch(burnpy.nn.BatchNormConfig(8))
    assert_type(norm.init().valid(), burnpy.nn.Normalization)
    assert_type(norm.with_num_features(4), burnpy.nn.NormalizationConfig)
    assert_type(burnpy.nn.BatchNormConfig(8).init().running_mean.value_sync(), burnpy.Tensor)
