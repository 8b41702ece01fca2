"""What all stores share: the options, under Burn's names, and the way from a file to a module and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from burnpy import _core
from burnpy._core import Regex
from burnpy.store.adapter import IdentityAdapter, ModuleAdapter, ModuleContext
from burnpy.store.filter import PathFilter, Predicate
from burnpy.store.remap import KeyRemapper, map_indices_contiguous_except
from burnpy.store.snapshot import TensorSnapshot
from burnpy.store.target import Part

if TYPE_CHECKING:
    from typing import Self

    from burnpy.store.apply import ApplyResult

__all__ = ["ModuleStore", "Options", "Source"]


class Options(TypedDict, total=False):
    """The keywords that all stores take; each store's description tells them."""

    filter: PathFilter | None
    remapper: KeyRemapper | None
    from_adapter: ModuleAdapter | None
    to_adapter: ModuleAdapter | None
    allow_partial: bool
    validate: bool
    skip_enum_variants: bool
    map_indices_contiguous: bool
    map_indices_contiguous_except: Iterable[str]


class Source(Protocol):
    """An open file that a store reads."""

    def keys(self) -> list[str]:
        """Names in data order."""

    def view(self, name: str, /) -> Any:
        """A lazy tensor."""

    def close(self) -> None:
        """Let the file go."""


class ModuleStore:
    """A file that a module is saved into and loaded from; the base of the three stores.

    Every option is a keyword of the constructors and a method that returns the store. ``keys``, ``get_tensor`` and
    ``get_all_tensors`` see the file after renaming and renumbering, but before filters and adapters.

    The file is opened at the first look, and kept open until an option changes, something is saved, or ``close``.
    """

    def __init__(
        self,
        *,
        filter: PathFilter | None = None,
        remapper: KeyRemapper | None = None,
        from_adapter: ModuleAdapter | None = None,
        to_adapter: ModuleAdapter | None = None,
        allow_partial: bool = False,
        validate: bool = True,
        skip_enum_variants: bool = False,
        map_indices_contiguous: bool = False,
        map_indices_contiguous_except: Iterable[str] = (),
    ) -> None:
        self._source: Source | None = None
        self._tensors: dict[str, TensorSnapshot] | None = None
        self._filter = filter
        self._remapper = remapper or KeyRemapper()
        self._from_adapter = from_adapter or IdentityAdapter()
        self._to_adapter = to_adapter or IdentityAdapter()
        self._allow_partial = allow_partial
        self._validate = validate
        self._skip_enum_variants = skip_enum_variants
        self._contiguous = map_indices_contiguous
        self._kept: list[Regex] = []
        for pattern in map_indices_contiguous_except:
            self.map_indices_contiguous_except(pattern)

    # ---- what is loaded and saved

    def filter(self, filter: PathFilter) -> Self:
        """Load and save only what a filter accepts."""
        self._filter = filter
        return self

    def with_filter(self, filter: PathFilter) -> Self:
        """As ``filter``."""
        return self.filter(filter)

    def with_regex(self, pattern: str) -> Self:
        """Accept paths in which a pattern is found too."""
        return self._widened(lambda filter: filter.with_regex(pattern))

    def with_regexes(self, patterns: Iterable[str]) -> Self:
        """As ``with_regex``, for several."""
        return self._widened(lambda filter: filter.with_regexes(patterns))

    def with_full_path(self, path: str) -> Self:
        """Accept this very path too."""
        return self._widened(lambda filter: filter.with_full_path(path))

    def with_full_paths(self, paths: Iterable[str]) -> Self:
        """As ``with_full_path``, for several."""
        return self._widened(lambda filter: filter.with_full_paths(paths))

    def with_predicate(self, predicate: Predicate) -> Self:
        """Accept paths for which a function of path and container path is true, too."""
        return self._widened(lambda filter: filter.with_predicate(predicate))

    def with_predicates(self, predicates: Iterable[Predicate]) -> Self:
        """As ``with_predicate``, for several."""
        return self._widened(lambda filter: filter.with_predicates(predicates))

    def match_all(self) -> Self:
        """Accept everything."""
        return self._widened(lambda filter: filter.match_all())

    def _widened(self, widen: Callable[[PathFilter], PathFilter]) -> Self:
        # A filter that the caller has given may be in use elsewhere.
        self._filter = widen(PathFilter() if self._filter is None else self._filter | PathFilter())
        return self

    # ---- names

    def remap(self, remapper: KeyRemapper) -> Self:
        """Rename with this remapper instead of what was set before."""
        self._remapper = remapper
        return self._changed()

    def with_key_remapping(self, from_pattern: str, to_pattern: str) -> Self:
        """Rename with one more pattern, after those before it."""
        pairs = self._remapper.to_regex_pairs()
        self._remapper = KeyRemapper.from_compiled_patterns(pairs).add_pattern(from_pattern, to_pattern)
        return self._changed()

    def map_indices_contiguous(self, on: bool) -> Self:
        """Close the gaps in numbers when loading."""
        self._contiguous = on
        return self._changed()

    def map_indices_contiguous_except(self, pattern: str) -> Self:
        """Keep the numbers after prefixes in which the pattern is found; of use while the gaps are closed."""
        self._kept.append(Regex(pattern))
        return self._changed()

    def skip_enum_variants(self, on: bool) -> Self:
        """Leave the names of enum variants out of paths."""
        self._skip_enum_variants = on
        return self

    # ---- manners

    def with_from_adapter(self, adapter: ModuleAdapter) -> Self:
        """Change tensors with this adapter when they are loaded."""
        self._from_adapter = adapter
        return self

    def with_to_adapter(self, adapter: ModuleAdapter) -> Self:
        """Change tensors with this adapter when they are saved."""
        self._to_adapter = adapter
        return self

    def validate(self, on: bool) -> Self:
        """Whether tensors of wrong shape or kind are an error; they are in the result's ``errors`` either way."""
        self._validate = on
        return self

    def allow_partial(self, on: bool) -> Self:
        """Whether a module may have parameters that the file lacks."""
        self._allow_partial = on
        return self

    # ---- looking

    def keys(self) -> list[str]:
        """Names, renamed and renumbered, sorted."""
        return list(self.get_all_tensors())

    def get_tensor(self, name: str) -> TensorSnapshot | None:
        """A lazy tensor by its new name."""
        return self.get_all_tensors().get(name)

    def get_all_tensors(self) -> dict[str, TensorSnapshot]:
        """Every lazy tensor by its new name, sorted.

        Raises:
            NameCollision: two have one name. Unlike Burn, where the last one wins.
        """
        if self._tensors is None:
            with self._told():
                source = self._opened()
                tensors = [TensorSnapshot.from_view(source.view(name), name=name) for name in source.keys()]  # noqa: SIM118
            tensors, _ = self._remapper.remap(tensors)
            if self._contiguous:
                tensors, _ = map_indices_contiguous_except(tensors, self._is_kept)
            self._tensors = {
                tensor.name: tensor for tensor in sorted(tensors, key=lambda tensor: tensor.name.encode())
            }
        return dict(self._tensors)

    def file_metadata(self) -> dict[str, str]:
        """The texts in the file."""
        with self._told():
            return self._texts()

    def close(self) -> None:
        """Let the file go; lazy tensors made of it are of no use afterwards."""
        source, self._source, self._tensors = self._source, None, None
        if source is not None:
            source.close()

    # ---- modules

    def collect_from(self, module: Any) -> None:
        """Save a module, or whatever has a ``collect`` like a module's."""
        collected = module.collect(
            filter=self._collect_filter(),
            adapter=self._to_adapter,
            skip_enum_variants=self._skip_enum_variants,
        )
        self._save([_snapshot(tensor) for tensor in collected])

    def apply_to(self, module: Any) -> ApplyResult:
        """Load into a module, or whatever has an ``apply`` like a module's.

        Unlike Burn: a load that fails leaves the module as it was.

        Raises:
            Error, StoreError: a tensor is of wrong shape or kind, or the file lacks some; ``result`` has all of it.
        """
        tensors = list(self.get_all_tensors().values())
        result: ApplyResult = module.apply(
            tensors,
            filter=self._filter,
            adapter=self._from_adapter,
            skip_enum_variants=self._skip_enum_variants,
            check=self._check,
        )
        return result

    def _check(self, result: ApplyResult) -> None:
        if self._validate and result.errors:
            raise self._invalid(result)
        if not self._allow_partial and result.missing:
            raise self._missing(result)

    def save(self, tensors: Iterable[Any] | Mapping[str, Any]) -> None:
        """Save tensors instead of a module: snapshots, container tensors, or a mapping of names to arrays.

        Filter and adapter see the container types that snapshots have.
        """
        if isinstance(tensors, Mapping):
            tensors = [_named(name, value) for name, value in tensors.items()]
        kept = [one for one in map(_snapshot, tensors) if self._collects(one)]
        self._save([self._to_adapter.adapt(one, ModuleContext(one.container)) for one in kept])

    def _collects(self, tensor: TensorSnapshot) -> bool:
        kept = self._collect_filter()
        return kept is None or kept.matches_with_container(tensor.name, tensor.container_path)

    # ---- what a store is made of

    def _collect_filter(self) -> PathFilter | None:
        """The filter that a module applies when it is collected."""
        return self._filter

    def _open(self) -> Source:
        raise NotImplementedError

    def _texts(self) -> dict[str, str]:
        raise NotImplementedError

    def _save(self, tensors: list[TensorSnapshot]) -> None:
        raise NotImplementedError

    def _invalid(self, result: ApplyResult) -> Exception:
        raise NotImplementedError

    def _missing(self, result: ApplyResult) -> Exception:
        raise NotImplementedError

    def _told(self) -> Any:
        """A context that turns errors into the store's."""
        raise NotImplementedError

    def _opened(self) -> Source:
        if self._source is None:
            self._source = self._open()
        return self._source

    def _changed(self) -> Self:
        self._tensors = None
        return self

    def _is_kept(self, key: str) -> bool:
        return any(pattern.is_match(key) for pattern in self._kept)


def parts_of(tensors: Iterable[TensorSnapshot]) -> list[Part]:
    """Tensors as a target writes them, their ids kept."""
    return [
        Part(one.name, one.dtype, one.scheme, one.shape, one.nbytes, one.param_id, one.to_numpy)
        for one in tensors
    ]


def missing_text(result: ApplyResult) -> str:
    """What an error says of tensors that the file lacks."""
    return f"the file lacks {len(result.missing):,} of the module's tensors\n{result}"


def invalid_text(result: ApplyResult) -> str:
    """What an error says of tensors that do not fit."""
    return f"{len(result.errors):,} tensors do not fit the module\n{result}"


def _snapshot(tensor: Any) -> TensorSnapshot:
    if isinstance(tensor, TensorSnapshot):
        return tensor
    if isinstance(tensor, _core.TensorEntry):
        return TensorSnapshot.from_pack(tensor)
    return TensorSnapshot.from_view(tensor)


def _named(name: str, value: Any) -> TensorSnapshot:
    if isinstance(value, TensorSnapshot | _core.TensorEntry):
        return _snapshot(value).rename(name)
    if hasattr(value, "numpy") and hasattr(value, "scheme"):
        return TensorSnapshot.from_view(value, name=name)
    return TensorSnapshot.from_array(name, value)
