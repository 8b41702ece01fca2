"""Makes the hostile files of this folder and their manifest. Deterministic: a second run changes nothing.

    python tests/corpus/make.py

Each file is a small lie about a container. The manifest says which error it must give when it is opened and every
tensor is read: ``tolerant`` and ``strict`` are the kind of error, or null for a file that is read.
What fuzzing found is kept beside these, listed in ``FINDS``, and never made again.
"""

import json
import struct
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
MAGIC = b"NRUB"

HEADER = "InvalidHeader"
CBOR = "MetadataDeserializationError"
RULE = "ValidationError"

# Finds of fuzzing: file, what it was, tolerant, strict.
FINDS: list[tuple[str, str, str | None, str | None]] = []


def head(major: int, value: int) -> bytes:
    """A CBOR head in its shortest form."""
    for code, size, limit in ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64)):
        if value < 24:
            return bytes([major << 5 | value])
        if value < limit:
            return bytes([major << 5 | code]) + struct.pack(size, value)
    raise ValueError(f"{value} is over 64 bits")


def uint(value: int) -> bytes:
    return head(0, value)


def text(value: str) -> bytes:
    return head(3, len(value.encode())) + value.encode()


def array(*items: bytes) -> bytes:
    return head(4, len(items)) + b"".join(items)


def mapping(*entries: tuple[str, bytes]) -> bytes:
    return head(5, len(entries)) + b"".join(text(key) + value for key, value in entries)


def descriptor(start: int, end: int, *, dtype: bytes = text("U8"), shape: tuple[int, ...] | None = None) -> bytes:
    dims = (end - start,) if shape is None else shape
    return mapping(
        ("dtype", dtype),
        ("shape", array(*map(uint, dims))),
        ("data_offsets", array(uint(start), uint(end))),
    )


def tensors(*named: tuple[str, bytes]) -> bytes:
    return mapping(("tensors", mapping(*named)))


def container(metadata: bytes, data: bytes = bytes(8), *, version: int = 1, size: int | None = None) -> bytes:
    size = len(metadata) if size is None else size
    front = MAGIC + struct.pack("<HI", version, size) + metadata
    return front + bytes(-len(front) % 256) + data


def scheme(store: bytes = text("Native"), block: bytes = b"\xf6") -> bytes:
    entries = mapping(
        ("value", text("Q8S")),
        ("store", store),
        ("mode", text("Symmetric")),
        ("tensor", b"\xf6"),
        ("block", block),
    )
    return mapping(("QFloat", entries))


def block(storage: tuple[int, ...], used: int) -> bytes:
    size = mapping(("storage", array(*map(uint, storage))), ("len", uint(used)))
    return mapping(("size", size), ("dtype", text("F32")))


HUGE = (1 << 64) - 1
ONE = tensors(("w", descriptor(0, 8)))


def files() -> list[tuple[str, str, bytes, str | None, str | None]]:
    """Name, what it is, content, kind of error when read tolerantly, and strictly."""
    return [
        # The header.
        ("header_nothing", "no byte at all", b"", HEADER, HEADER),
        ("header_magic_only", "four bytes", MAGIC, HEADER, HEADER),
        ("header_size_all_ones", "metadata of 4 GiB is promised", container(ONE, size=0xFFFFFFFF), RULE, RULE),
        ("header_size_limit", "100 MiB of metadata are promised", container(ONE, size=100 << 20), HEADER, HEADER),
        ("header_version_65535", "the last version", container(ONE, version=65535), "InvalidVersion", "InvalidVersion"),
        ("header_safetensors", "a safetensors file", struct.pack("<Q", 2) + b"{}", "InvalidMagicNumber", "InvalidMagicNumber"),
        ("header_zip", "a zip file", b"PK\x03\x04" + bytes(30), "InvalidMagicNumber", "InvalidMagicNumber"),
        # Lengths that promise more than there is.
        ("promise_tensors", "2^64 - 1 tensors", container(head(5, 1) + text("tensors") + head(5, HUGE)), CBOR, RULE),
        ("promise_tensors_allowed", "100,000 tensors", container(head(5, 1) + text("tensors") + head(5, 100_000)), CBOR, CBOR),
        ("promise_name", "a name of 2^63 bytes", container(head(5, 1) + text("tensors") + head(5, 1) + head(3, 1 << 63)), CBOR, CBOR),
        ("promise_shape", "a shape of 2^62 dimensions", container(mapping(("tensors", head(5, 1) + text("w") + head(5, 3) + text("dtype") + text("U8") + text("shape") + head(4, 1 << 62)))), CBOR, CBOR),
        ("promise_bytes", "an ignored byte string of 2^64 - 1", container(head(5, 2) + text("x") + head(2, HUGE)), CBOR, RULE),
        ("promise_empty_chunks", "an ignored text of endless empty chunks", container(head(5, 2) + text("x") + b"\x7f" + b"\x60" * 4096), CBOR, RULE),
        # Depth.
        ("deep_arrays", "a thousand arrays in each other", container(mapping(("x", b"\x81" * 1000 + b"\x00"), ("tensors", mapping()))), CBOR, RULE),
        ("deep_tags", "a thousand tags in front of the top level", container(b"\xc1" * 1000 + ONE), CBOR, CBOR),
        ("deep_open_maps", "indefinite maps that never end", container(b"\xbf" + text("x") + b"\xbf\x00" * 2000), CBOR, RULE),
        ("deep_texts", "indefinite texts in each other", container(mapping(("x", b"\x7f" * 1000), ("tensors", mapping()))), CBOR, RULE),
        ("deep_byte_strings", "indefinite byte strings in each other", container(mapping(("x", b"\x5f" * 1000), ("tensors", mapping()))), CBOR, RULE),
        # Ranges.
        ("range_reversed", "an end before its start", container(tensors(("w", descriptor(8, 8).replace(b"\x82\x08\x08", b"\x82\x08\x00")))), RULE, RULE),
        ("range_wraps", "an end of 2^64 - 1", container(tensors(("w", descriptor(0, HUGE)))), RULE, RULE),
        ("range_wraps_to_the_file", "start and end that wrap into the file", container(tensors(("w", descriptor(HUGE - 255, HUGE - 247)))), RULE, RULE),
        ("range_behind_the_file", "a tensor behind the end", container(tensors(("w", descriptor(1024, 1032)))), RULE, RULE),
        ("range_overlap", "two tensors over the same bytes", container(tensors(("a", descriptor(0, 8)), ("b", descriptor(0, 8)))), None, RULE),
        ("range_overlap_by_one", "the second begins in the first", container(tensors(("a", descriptor(0, 300)), ("b", descriptor(256, 300))), bytes(300)), None, RULE),
        ("range_hole", "256 bytes that belong to no tensor", container(tensors(("a", descriptor(0, 8)), ("b", descriptor(512, 520))), bytes(520)), None, RULE),
        ("range_in_the_header", "a start that is negative", container(tensors(("w", mapping(("dtype", text("U8")), ("shape", array(uint(8))), ("data_offsets", array(b"\x39\x00\xff", uint(8))))))), CBOR, CBOR),
        ("range_not_aligned", "a tensor at 1", container(tensors(("w", descriptor(1, 8)))), None, RULE),
        ("range_empty_far_away", "an empty tensor at 2^63", container(tensors(("w", descriptor(1 << 63, 1 << 63)))), RULE, RULE),
        # Shapes.
        ("shape_product_wraps_to_8", "a product that is 8 modulo 2^64", container(tensors(("w", descriptor(0, 8, shape=((1 << 63) + 4, 2))))), RULE, RULE),
        ("shape_overflow_before_zero", "an overflow in front of a 0", container(tensors(("w", descriptor(0, 0, shape=(HUGE, 2, 0))))), RULE, RULE),
        ("shape_zero_before_overflow", "a 0 in front of what would overflow", container(tensors(("w", descriptor(0, 0, shape=(0, HUGE, 2)))), b""), None, None),
        ("shape_of_4000_dimensions", "a rank of 4,000", container(tensors(("w", descriptor(0, 1, shape=(1,) * 4000))), bytes(1)), None, None),
        ("shape_too_long_for_its_range", "rank 4,000 and a byte too many", container(tensors(("w", descriptor(0, 2, shape=(1,) * 4000))), bytes(2)), RULE, RULE),
        # Quantization.
        ("qfloat_block_of_zero", "a block extent of 0", container(tensors(("w", descriptor(0, 8, dtype=scheme(block=block((0, 1, 1, 1, 1), 1)), shape=(4,))))), RULE, RULE),
        ("qfloat_block_of_255_extents", "255 extents in use", container(tensors(("w", descriptor(0, 8, dtype=scheme(block=block((4, 1, 1, 1, 1), 255)), shape=(4,))))), RULE, RULE),
        ("qfloat_packed_dimension", "packed along dimension 2^64 - 1", container(tensors(("w", descriptor(0, 8, dtype=scheme(mapping(("PackedU32", uint(HUGE)))), shape=(4,))))), RULE, RULE),
        ("qfloat_overflow", "more values than 2^64", container(tensors(("w", descriptor(0, 8, dtype=scheme(), shape=(HUGE, HUGE))))), RULE, RULE),
        ("qfloat_sum_overflow", "values and scales that overflow together", container(tensors(("w", descriptor(0, 8, dtype=scheme(), shape=(HUGE - 1,))))), RULE, RULE),
        # Names and keys.
        ("name_twice", "one name for two tensors", container(tensors(("w", descriptor(0, 8)), ("w", descriptor(0, 8)))), None, RULE),
        ("name_not_utf8", "a name that is no text", container(head(5, 1) + text("tensors") + head(5, 1) + b"\x61\xff" + descriptor(0, 8)), CBOR, CBOR),
        ("name_surrogate", "a name with half a surrogate pair", container(head(5, 1) + text("tensors") + head(5, 1) + b"\x63\xed\xa0\x80" + descriptor(0, 8)), CBOR, CBOR),
        ("name_overlong_utf8", "a slash in two bytes", container(head(5, 1) + text("tensors") + head(5, 1) + b"\x62\xc0\xaf" + descriptor(0, 8)), CBOR, CBOR),
        ("name_climbs", "a name like a path to somewhere else", container(tensors(("../../etc/passwd", descriptor(0, 8)))), None, None),
        ("key_twice", "the key tensors twice", container(mapping(("tensors", mapping()), ("tensors", mapping()))), CBOR, CBOR),
        ("key_unknown", "an unknown key", container(mapping(("tensors", mapping(("w", descriptor(0, 8)))), ("more", uint(1)))), None, RULE),
        # What hides in a file.
        ("hidden_behind_the_metadata", "bytes after the CBOR", container(ONE + b"hidden"), None, RULE),
        ("hidden_in_the_padding", "a padding byte that is not 0", container(ONE)[:255] + b"\x01" + bytes(8), None, RULE),
        ("hidden_behind_the_end", "bytes after the last tensor", container(ONE) + b"hidden", None, RULE),
        ("numbers_too_wide", "a shape in nine bytes", container(ONE.replace(b"\x81\x08", b"\x81\x1b" + struct.pack(">Q", 8))), None, RULE),
    ]


def main() -> None:
    cases = []
    for name, what, content, tolerant, strict in files():
        (FOLDER / f"{name}.bpk").write_bytes(content)
        cases.append({"file": f"{name}.bpk", "what": what, "tolerant": tolerant, "strict": strict})
    cases += [{"file": f, "what": w, "tolerant": t, "strict": s} for f, w, t, s in FINDS]
    manifest = {"made_by": "tests/corpus/make.py", "files": cases}
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
