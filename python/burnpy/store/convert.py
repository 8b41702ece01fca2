"""``burnpy.convert``: a checkpoint of one format written as another, one tensor in memory at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from burnpy._shards import delete_others, fill_shards, index_json, num_bytes, shard_names
from burnpy.errors import CheckpointError
from burnpy.pack import AtomicFile
from burnpy.store.checkpoint import AUTO, PICKLED, Checkpoint
from burnpy.store.checkpoint import open as open_checkpoint
from burnpy.store.landing import Landing, landing
from burnpy.store.plan import Plan, Wishes
from burnpy.store.report import ConversionReport
from burnpy.store.target import TARGETS, Part, Target, refuse_existing, target_format

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.store.adapter import ModuleAdapter
    from burnpy.store.draw import Progress
    from burnpy.store.filter import PathFilter
    from burnpy.store.remap import KeyRemapper

__all__ = ["convert"]

_INDEX = ".index.json"
_DEFAULT_SHARD = "5GB"
_LISTED = 20


def convert(
    src: Place,
    dst: Place,
    *,
    map: Iterable[tuple[str, str]] | Mapping[str, str] | KeyRemapper = (),
    only: str | Iterable[str] | PathFilter = (),
    drop: str | Iterable[str] | PathFilter = (),
    dtype: Any = None,
    adapter: str | ModuleAdapter | None = None,
    top_level_key: str | None = "auto",
    shard: int | str | None = None,
    allow_loss: bool = False,
    dry_run: bool = False,
    overwrite: bool = True,
    durable: bool = False,
    progress: Progress | None = None,
    format: str | None = None,
) -> ConversionReport:
    """Write a checkpoint in another format, and tell what was carried and what was not.

    Reads what ``burnpy.open`` reads; writes ``.bpk``, ``.safetensors`` and ``.npz``. Everything is checked before the
    first byte is written, and the target appears whole or not at all. Tensors are drawn one by one: the most memory
    that is used is that of the largest, and a little.

    Metadata and scalars travel. What only a burnpack has (ids of parameters, scalars, an order of its own) goes into
    other formats as metadata under ``burnpy.*`` keys, so that it is there again when the file becomes a burnpack.

    The order of things: the top-level key is chosen, ``only`` and ``drop`` see the names below it, then ``map``,
    ``adapter`` and ``dtype`` have their turn.

    Args:
        src: the checkpoint: a path, a URL, a file object, or a place of ``burnpy.storage.at``.
        dst: the file to be written, likewise. Its suffix tells the format. What goes to a store is written on this
            machine first.
        map: pairs of regex and replacement, applied in turn to every name; groups are ``$1`` and ``${name}``.
        only: patterns of tensors that are carried; all, without any.
        drop: patterns of tensors and scalars that are not.
        dtype: what every float becomes: ``"f64"``, ``"f32"``, ``"f16"``, ``"bf16"``, ``"flex32"``.
        adapter: ``"pytorch"`` for PyTorch's conventions into Burn's, ``"burn-to-pytorch"`` for the way back, or an
            adapter of ``burnpy.store``. What module a tensor belongs to is told by ``infer_contexts``.
        top_level_key: the part of a PyTorch checkpoint that is taken; ``"auto"`` finds the state dict and says so,
            ``None`` takes everything under its full name.
        shard: write several files of at most so many bytes each (``"5GB"``), and an index.
        allow_loss: leave out what the target cannot hold, and say so, instead of stopping.
        dry_run: write nothing, but check and report as if.
        overwrite: whether something at ``dst`` is replaced.
        durable: wait until the disk has the files.
        progress: called before each tensor with its name, the bytes written and the bytes of all; at the end once
            more, with an empty name.
        format: ``"burnpack"``, ``"safetensors"`` or ``"npz"``, where the suffix does not tell.

    Raises:
        CheckpointError: the source is damaged; or the target cannot hold something (kind ``"cannot be written"``, with
            the report as ``report``).
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        AlreadyExists: something is at ``dst``, and ``overwrite`` is off.
        NameCollision: two tensors would have one name.
        ValueError: a pattern, the adapter, the format or the size of a shard is wrong.
        DTypeError: the dtype is unknown, or no float.
        ValidationError, IoError: of ``burnpy.pack``: a limit is exceeded, a tensor cannot be read, the disk is full.

    Example:
        >>> import numpy as np
        >>> np.savez("weights.npz", **{"fc.weight": np.ones((3, 2), np.float32), "fc.bias": np.zeros(3, np.float32)})
        >>> report = convert("weights.npz", "weights.bpk", adapter="pytorch", map={"^fc": "head"})
        >>> report.written, report.tensors[0].shape
        (['head.weight', 'head.bias'], (2, 3))
    """
    wishes = Wishes.of(map=map, only=only, drop=drop, adapter=adapter, dtype=dtype, allow_loss=allow_loss)
    with landing(dst, overwrite=overwrite) as place:
        return _convert(
            src,
            place,
            wishes,
            top_level_key=top_level_key,
            shard=shard,
            dry_run=dry_run,
            overwrite=overwrite,
            durable=durable,
            progress=progress,
            format=format,
        )


def _convert(
    src: Place,
    place: Landing,
    wishes: Wishes,
    *,
    top_level_key: str | None,
    shard: int | str | None,
    dry_run: bool,
    overwrite: bool,
    durable: bool,
    progress: Progress | None,
    format: str | None,
) -> ConversionReport:
    path = place.path
    target = TARGETS[target_format(path, format)]()
    base = path.removesuffix(_INDEX)
    if shard is None and base != path:
        shard = _DEFAULT_SHARD
    max_bytes = None if shard is None else num_bytes(shard, "shard")
    if target.format == "npz" and max_bytes is not None:
        raise ValueError("npz has no index of several files: shard must be None")
    with _opened(src, top_level_key) as checkpoint:
        chosen = checkpoint.chosen
        report = ConversionReport(
            source=str(src) if isinstance(src, str | os.PathLike) else checkpoint.path,
            destination=path if max_bytes is None else base + _INDEX,
            source_format=checkpoint.format,
            target_format=target.format,
            dry_run=dry_run,
            top_level_key=chosen.top_level_key if chosen else None,
            stripped="".join(chosen.stripped) if chosen else "",
            left_out=list(chosen.left_out) if chosen else [],
        )
        plan = Plan(checkpoint, target, wishes, report)
        if plan.losses and not wishes.allow_loss:
            raise _cannot_hold(report, target)
        parts, drawing = plan.parts(progress)
        files = _files(parts, base, max_bytes, target)
        report.files = [*files] if max_bytes is None else [*files, report.destination]
        _check_places(report.files, overwrite=overwrite)
        if not dry_run:
            with checkpoint._verifying(one.source for one in report.tensors) as verify:
                _write(plan, target, files, report, verify, overwrite=overwrite, durable=durable)
            drawing.finish()
        place.publish(report, overwrite=overwrite)
    return report


def _opened(src: Place, top_level_key: str | None) -> Checkpoint:
    """The source, narrowed to the model's state where the format may have more around it."""
    if top_level_key != AUTO:
        return open_checkpoint(src, top_level_key=top_level_key)
    checkpoint = open_checkpoint(src)
    if not checkpoint.format.startswith(PICKLED):
        # A burnpack of a model whose only field is called `module` keeps its names.
        return checkpoint
    checkpoint.close()
    return open_checkpoint(src, top_level_key=AUTO)


def _files(parts: Sequence[Part], base: str, max_bytes: int | None, target: Target) -> dict[str, list[Part]]:
    """The tensors of each file."""
    if max_bytes is None:
        return {base: list(parts)}
    shards = fill_shards({part.name: part for part in parts}, max_bytes)
    folder, name = os.path.split(base)
    stem = name.removesuffix(f".{target.extension}")
    names = shard_names(stem, target.extension, len(shards))
    return {
        os.path.join(folder, name): list(shard.values()) for name, shard in zip(names, shards, strict=True)
    }


def _check_places(files: Iterable[str], *, overwrite: bool) -> None:
    for path in files:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not overwrite:
            refuse_existing(path)


def _write(
    plan: Plan,
    target: Target,
    files: Mapping[str, list[Part]],
    report: ConversionReport,
    verify: Callable[[], None],
    *,
    overwrite: bool,
    durable: bool,
) -> None:
    """Write all files beside their places, then put them in place together once they are verified, the index last."""
    parts = [part for shard in files.values() for part in shard]
    passport = target.passport(parts, plan.scalars)
    is_sharded = report.destination not in files
    if is_sharded and target.format == "safetensors":
        # Each file is in the format's own order, which together are never that of the whole.
        passport.order = [part.name for part in parts]
    metadata = plan.metadata | passport.texts()
    with ExitStack() as stack:
        staged = []
        for number, (path, shard) in enumerate(files.items()):
            texts, scalars = (metadata, plan.scalars) if number == 0 else ({}, {})
            scratch = target.stage(shard, path, texts, scalars, durable=durable)
            staged.append(stack.enter_context(scratch))
        if is_sharded:
            index = AtomicFile(report.destination, durable=durable)
            staged.append(stack.enter_context(index))
            index.write(index_json(_by_name(files)))
        verify()
        for scratch in staged:
            scratch.commit(overwrite)
    if is_sharded:
        folder, name = os.path.split(report.destination.removesuffix(_INDEX))
        stem = name.removesuffix(f".{target.extension}")
        delete_others(folder or ".", stem, target.extension, {os.path.basename(path) for path in files})


def _by_name(files: Mapping[str, Sequence[Part]]) -> dict[str, dict[str, Part]]:
    return {os.path.basename(path): {part.name: part for part in shard} for path, shard in files.items()}


def _cannot_hold(report: ConversionReport, target: Target) -> CheckpointError:
    lost = report.lost
    listed = [f"  {one}" for one in lost[:_LISTED]]
    if len(lost) > _LISTED:
        listed.append(f"  ... and {len(lost) - _LISTED:,} more")
    head = f"{report.source}: {len(lost):,} {'things' if len(lost) > 1 else 'thing'} cannot be written as"
    ways = "drop them, cast floats to another dtype, or allow the loss"
    message = "\n".join([f"{head} {target.format}; {ways}:", *listed])
    tensors = [one.name for one in lost if one.what == "tensor"]
    error = CheckpointError(
        message, kind="cannot be written", path=report.source, tensor=tensors[0] if tensors else None
    )
    error.report = report  # type: ignore[attr-defined]  # only a conversion's errors have one
    return error
