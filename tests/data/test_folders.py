"""Folders of texts and images, and annotations."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.data import (
    BoundingBox,
    BoundingBoxes,
    DataLoader,
    ImageFolderDataset,
    Label,
    MultiLabel,
    PixelData,
    SegmentationMask,
    TextFolderDataset,
)
from burnpy.errors import DatasetError, ImageLoaderError
from tests.data.samples import as_list


def _write(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


class TestTexts:
    def test_classes_are_folders_and_order_is_that_of_paths(self, tmp_path: Path) -> None:
        for name in "b/2.txt", "b/1.txt", "a/deep/c/3.txt", "a/x.TXT", "a/x.md":
            _write(tmp_path / name, name.encode())
        dataset = TextFolderDataset.new_classification(tmp_path)
        assert dataset.classes == ["b", "c"]
        assert [(item.text.text, item.label) for item in dataset] == [
            ("a/deep/c/3.txt", 1),
            ("b/1.txt", 0),
            ("b/2.txt", 0),
        ]
        assert dataset.get(1).text.text_path == str(tmp_path / "b" / "1.txt")
        assert pickle.loads(pickle.dumps(dataset)).get(2) == dataset.get(2)

    @pytest.mark.parametrize(
        "data",
        [
            "grün €".encode(),
            "grün €".encode("utf-8-sig"),
            b"\xff\xfe" + "grün €".encode("utf-16-le"),
            b"\xfe\xff" + "grün €".encode("utf-16-be"),
            "grün €".encode("gb18030"),
        ],
    )
    def test_encodings_are_found(self, tmp_path: Path, data: bytes) -> None:
        path = _write(tmp_path / "t.txt", data)
        dataset = TextFolderDataset.new_classification_with_items([(path, "x")], ["y", "x"])
        assert dataset.get(0).text.text == "grün €" and dataset.get(0).label == 1

    def test_gbk_and_what_is_nothing(self, tmp_path: Path) -> None:
        items = [
            (_write(tmp_path / "1.txt", "中文".encode("gbk")), "x"),
            (_write(tmp_path / "2.txt", b"a\xff"), "x"),
        ]
        assert [item.text.text for item in TextFolderDataset(items, ["x"])] == [
            "中文",
            "a\N{REPLACEMENT CHARACTER}",
        ]

    def test_what_cannot_be_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="extension 'md' is none of txt") as caught:
            TextFolderDataset.new_classification_with(tmp_path, ["txt", "md"])
        assert caught.value.kind == "InvalidFileExtensionError"
        with pytest.raises(DatasetError, match=r"label 'z' is none of the classes \['x'\]"):
            TextFolderDataset.new_classification_with_items([(tmp_path / "a.txt", "z")], ["x"])
        with pytest.raises(DatasetError, match=r"item 0: .*none\.txt"):
            TextFolderDataset([(tmp_path / "none.txt", "x")], ["x"]).get(0)
        with pytest.raises(FileNotFoundError):
            TextFolderDataset.new_classification(tmp_path / "nowhere")
        assert len(TextFolderDataset.new_classification(tmp_path)) == 0

    @pytest.mark.skipif(os.name == "nt", reason="links need rights there")
    def test_links_are_followed_and_circles_end(self, tmp_path: Path) -> None:
        _write(tmp_path / "root" / "a" / "1.txt")
        _write(tmp_path / "other" / "2.txt")
        (tmp_path / "root" / "b").symlink_to(tmp_path / "other")
        (tmp_path / "root" / "a" / "up").symlink_to(tmp_path / "root")
        dataset = TextFolderDataset.new_classification(tmp_path / "root")
        assert dataset.classes == ["a", "b"] and len(dataset) == 2


@pytest.fixture
def pillow() -> Any:
    return pytest.importorskip("PIL.Image")


def _image(path: Path, array: Any, pillow: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pillow.fromarray(np.asarray(array)).save(path)
    return path


DOT = np.full((1, 1, 3), 200, np.uint8)


class TestImages:
    @pytest.fixture
    def root(self, tmp_path: Path, pillow: Any) -> Path:
        for name in "orange/dot.jpg", "red/dot.JPG", "red/dot.png":
            _image(tmp_path / "set" / name, DOT, pillow)
        _write(tmp_path / "set" / "red" / "readme.md")
        return tmp_path / "set"

    def test_classes_are_folders(self, root: Path) -> None:
        dataset = ImageFolderDataset.new_classification(root)
        assert [item.annotation for item in dataset] == [Label(0), Label(1), Label(1)]
        assert {(item.image_width, item.image_height) for item in dataset} == {(1, 1)}
        assert dataset.classes == ["orange", "red"] and dataset.get(2).image_path == str(
            root / "red" / "dot.png"
        )
        assert list(dataset.get(2).image) == [200, 200, 200]
        assert [
            item.annotation for item in DataLoader(dataset, as_list, num_workers=2).iter().__next__()
        ] == [Label(0)]

    def test_some_extensions_only(self, root: Path) -> None:
        dataset = ImageFolderDataset.new_classification_with(root, ["jpg"])
        assert [item.annotation for item in dataset] == [Label(0), Label(1)]
        with pytest.raises(
            ImageLoaderError, match="extension 'gif' is none of bmp, jpeg, jpg, png"
        ) as caught:
            ImageFolderDataset.new_classification_with(root, ["gif"])
        assert caught.value.kind == "InvalidFileExtensionError"

    def test_several_labels(self, root: Path) -> None:
        items = [
            (root / "orange" / "dot.jpg", ["dot", "orange"]),
            (root / "red" / "dot.JPG", ["dot", "red"]),
            (root / "red" / "dot.png", ["dot", "red"]),
        ]
        dataset = ImageFolderDataset.new_multilabel_classification_with_items(items, ["dot", "orange", "red"])
        assert [item.annotation for item in dataset] == [
            MultiLabel([0, 1]),
            MultiLabel([0, 2]),
            MultiLabel([0, 2]),
        ]
        assert pickle.loads(pickle.dumps(dataset)).get(1) == dataset.get(1)
        with pytest.raises(ImageLoaderError, match="label 'green' is none of"):
            ImageFolderDataset.new_multilabel_classification_with_items([(root, ["dot", "green"])], ["dot"])

    def test_masks(self, tmp_path: Path, pillow: Any) -> None:
        values = np.arange(64).reshape(8, 8) % 3 + 1
        grey, deep, color = values.astype(np.uint8), values.astype(np.uint16), np.zeros((8, 8, 3), np.uint8)
        color[..., 0] = values
        image = _image(tmp_path / "i.png", np.zeros((8, 8, 3), np.uint8), pillow)
        masks = [_image(tmp_path / f"{n}.png", mask, pillow) for n, mask in enumerate([grey, deep, color])]
        dataset = ImageFolderDataset.new_segmentation_with_items(
            [(image, mask) for mask in masks], ["a", "b"]
        )
        assert [item.annotation for item in dataset] == [SegmentationMask(values.reshape(-1).tolist())] * 3
        bad = _image(tmp_path / "bad.png", np.zeros((8, 8, 4), np.uint8), pillow)
        with pytest.raises(ImageLoaderError, match="a mask has 1 or 3 channels, this one 4"):
            ImageFolderDataset.new_segmentation_with_items([(image, bad)], []).get(0)

    @pytest.mark.parametrize(
        ("shape", "dtype", "kind"),
        [
            ((4, 5), np.uint8, "U8"),
            ((4, 5, 2), np.uint8, "U8"),
            ((4, 5, 3), np.uint8, "U8"),
            ((4, 5, 4), np.uint8, "U8"),
            ((4, 5), np.uint16, "U16"),
        ],
    )
    def test_pixels_are_those_of_the_file(
        self, tmp_path: Path, pillow: Any, shape: tuple[int, ...], dtype: Any, kind: str
    ) -> None:
        array = (np.arange(np.prod(shape)) * (257 if kind == "U16" else 1)).reshape(shape).astype(dtype)
        item = ImageFolderDataset.new_classification_with_items(
            [(_image(tmp_path / "x.png", array, pillow), "x")], ["x"]
        )[0]
        assert item.image.kind == kind and item.image.array.shape == (
            4,
            5,
            shape[2] if len(shape) == 3 else 1,
        )
        assert list(item.image) == array.reshape(-1).tolist() == item.image.to(kind)
        assert (item.image_width, item.image_height) == (5, 4)
        with pytest.raises(ImageLoaderError, match=f"pixels are {kind}, not F32"):
            item.image.to("F32")

    def test_palettes_and_bits_become_values(self, tmp_path: Path, pillow: Any) -> None:
        pillow.fromarray(DOT).convert("P").save(tmp_path / "p.png")
        pillow.fromarray(np.array([[True, False]])).save(tmp_path / "b.png")
        items = [(tmp_path / "p.png", "x"), (tmp_path / "b.png", "x")]
        palette, bits = ImageFolderDataset.new_classification_with_items(items, ["x"])
        assert palette.image.array.shape == (1, 1, 3) and list(bits.image) == [255, 0]

    def test_a_file_that_is_no_image_is_told_when_it_is_asked_for(self, tmp_path: Path, pillow: Any) -> None:
        good = _image(tmp_path / "x" / "good.png", np.zeros((64, 64, 3), np.uint8), pillow)
        _write(tmp_path / "x" / "bad.png", b"no image")
        _write(tmp_path / "x" / "cut.png", good.read_bytes()[:-30])
        pillow.fromarray(DOT).convert("CMYK").save(tmp_path / "x" / "ink.jpg")
        dataset = ImageFolderDataset.new_classification(tmp_path)
        for index, name in enumerate(["bad.png", "cut.png", None, "ink.jpg"]):
            if name:
                with pytest.raises(ImageLoaderError, match=name):
                    dataset.get(index)
        assert dataset.get(2).image_width == 64
        with pytest.raises(ImageLoaderError) as caught:
            ImageFolderDataset.new_classification_with_items([(tmp_path / "none.png", "x")], ["x"]).get(0)
        assert caught.value.kind == "IOError"

    def test_pixel_data_compares_by_value(self) -> None:
        one, other = PixelData(np.zeros((1, 2, 3), np.uint8)), PixelData(np.zeros((1, 2, 3), np.uint8))
        assert one == other and one != PixelData(np.zeros((2, 1, 3), np.uint8)) and one != 3
        assert not one.is_empty() and len(one) == 6


def test_without_pillow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    dataset = ImageFolderDataset.new_classification_with_items([(tmp_path / "x.png", "x")], ["x"])
    with pytest.raises(ImportError, match=r"burnpy\[image\]"):
        dataset.get(0)


COCO: dict[str, Any] = {
    "categories": [{"id": 7, "name": "dot"}, {"id": 0, "name": "line"}],
    "images": [
        {"id": 1, "file_name": "1.png"},
        {"id": 2, "file_name": "2.png"},
        {"id": 3, "file_name": "3.png"},
    ],
    "annotations": [
        {"image_id": 1, "category_id": 0, "bbox": [3.1251720, 18.090784, 10.96011, 10.740027]},
        {"image_id": 1, "category_id": 7, "bbox": [0, 0, 1, 2, 99]},
        {"image_id": 2, "category_id": 7, "bbox": [1, 2, 3, 4]},
    ],
}


class TestCoco:
    def _load(self, folder: Path, content: Any, **options: Any) -> ImageFolderDataset:
        for name in "1.png", "2.png", "3.png":
            _write(folder / "images" / name)
        path = _write(
            folder / "coco.json", content if isinstance(content, bytes) else json.dumps(content).encode()
        )
        return ImageFolderDataset.new_coco_detection(path, folder / "images", **options)

    def test_boxes(self, tmp_path: Path, pillow: Any) -> None:
        dataset = self._load(tmp_path, COCO)
        for n in 1, 2, 3:
            _image(tmp_path / "images" / f"{n}.png", DOT, pillow)
        found = [item.annotation for item in dataset]
        assert [len(boxes.boxes) for boxes in found if isinstance(boxes, BoundingBoxes)] == [2, 1, 0]
        first = found[0]
        assert isinstance(first, BoundingBoxes)
        expected = np.array([3.125172, 18.090784, 10.96011, 10.740027], np.float32)
        assert first.boxes[0] == BoundingBox(expected.tolist(), 0)
        assert first.boxes[1] == BoundingBox([0.0, 0.0, 1.0, 2.0], 7)

    def test_labels_are_places_on_demand(self, tmp_path: Path, pillow: Any) -> None:
        dataset = self._load(tmp_path, COCO, reindex=True)
        assert dataset.classes == ["line", "dot"]
        _image(tmp_path / "images" / "2.png", DOT, pillow)
        annotation = dataset.get(1).annotation
        assert isinstance(annotation, BoundingBoxes) and annotation.boxes[0].label == 1

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"categories": []}, "categories are missing, or have no name"),
            ({"categories": [{"id": 0, "name": ""}]}, "categories are missing, or have no name"),
            ({"categories": [{"id": "0", "name": "x"}]}, "categories[0].id must be of type int, got '0'"),
            ({"images": None}, "there is no list 'images'"),
            ({"images": [{"id": 1}]}, "images[0].file_name must be of type str, got None"),
            ({"annotations": {}}, "there is no list 'annotations'"),
            ({"annotations": [3]}, "annotations[0].image_id must be of type int"),
            (
                {"annotations": [{"image_id": 1, "category_id": 0, "bbox": [1, 2, 3]}]},
                "a bbox must have 4 numbers",
            ),
            (
                {"annotations": [{"image_id": 1, "category_id": 0, "bbox": [1, 2, 3, "4"]}]},
                "a bbox must have 4 numbers",
            ),
            ({"annotations": [{"image_id": 1, "category_id": 0, "bbox": [1, 2, 3, 1e300]}]}, "4 numbers"),
            (
                {"annotations": [{"image_id": 1, "category_id": 5, "bbox": []}]},
                "category_id 5, which is no category",
            ),
        ],
    )
    def test_what_is_wrong_is_told(self, tmp_path: Path, change: dict[str, Any], text: str) -> None:
        with pytest.raises(ImageLoaderError, match=r"coco\.json: ") as caught:
            self._load(tmp_path, COCO | change)
        assert text in str(caught.value) and caught.value.kind == "ParsingError"

    @pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b"[" * 100_000])
    def test_what_is_no_json_of_that_form_is_told(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(ImageLoaderError) as caught:
            self._load(tmp_path, content)
        assert caught.value.kind == "ParsingError"

    def test_missing_files_are_told(self, tmp_path: Path) -> None:
        with pytest.raises(ImageLoaderError) as caught:
            ImageFolderDataset.new_coco_detection(tmp_path / "none.json", tmp_path)
        assert caught.value.kind == "IOError"
        with pytest.raises(ImageLoaderError, match=r"there is no image .*4\.png") as caught:
            self._load(tmp_path, COCO | {"images": [{"id": 4, "file_name": "4.png"}]})
        assert caught.value.kind == "IOError"
