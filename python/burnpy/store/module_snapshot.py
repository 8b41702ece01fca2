"""The tensors of a module as lazy ones, and lazy ones into a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from burnpy._core import Device, Tensor
from burnpy.errors import BurnpyError
from burnpy.module.flag import Flag
from burnpy.module.param import Param
from burnpy.module.running_state import RunningState
from burnpy.module.steps import STEP
from burnpy.module.traversal import children, container_type
from burnpy.record.entry import Entry, kind_of, tensor_of
from burnpy.record.leaf import Leaf, assign, recorded, recorded_shape, taken_over
from burnpy.store.adapter import ModuleAdapter, ModuleContext
from burnpy.store.apply import AdapterError, ApplyResult, DTypeMismatch, LoadError, ShapeMismatch
from burnpy.store.dtype import is_float
from burnpy.store.filter import PathFilter
from burnpy.store.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from burnpy.module.module import Module

__all__ = ["apply", "collect"]

# What becomes a parameter of bools: what is not zero is true.
_BOOLS = ("u8", "u32")


class _Place(NamedTuple):
    """A parameter, its path, and the types of what owns each part of the path."""

    path: str
    leaf: Leaf
    container: tuple[str, ...]

    @property
    def container_path(self) -> str:
        return ".".join(self.container)


def collect(
    module: Module,
    filter: PathFilter | None = None,
    adapter: ModuleAdapter | None = None,
    skip_enum_variants: bool = False,
) -> list[TensorSnapshot]:
    """The parameters of a module as lazy tensors, in its order; what ``module.collect`` returns.

    Args:
        module: whose parameters.
        filter: which; it sees the module's own names.
        adapter: changes them.
        skip_enum_variants: leave the names of enum variants out of paths.

    Cost: none of their size, and what the adapter does is done when a tensor is drawn.

    Example:
        >>> from burnpy.nn import LinearConfig
        >>> from burnpy.store import BurnToPyTorchAdapter
        >>> module = LinearConfig(2, 3).init()
        >>> [(one.name, one.shape) for one in collect(module, adapter=BurnToPyTorchAdapter())]
        [('weight', (3, 2)), ('bias', (3,))]
    """
    with STEP:
        places = _places(module, skip_enum_variants)
        tensors = [_snapshot(place) for place in places if _accepts(filter, place)]
    if adapter is None:
        return tensors
    return [adapter.adapt(tensor, ModuleContext(tensor.container)) for tensor in tensors]


def apply(
    module: Module,
    tensors: Iterable[TensorSnapshot],
    filter: PathFilter | None = None,
    adapter: ModuleAdapter | None = None,
    skip_enum_variants: bool = False,
    *,
    check: Callable[[ApplyResult], None] | None = None,
) -> ApplyResult:
    """Put lazy tensors into a module where their names are its paths; what ``module.apply`` does.

    A parameter takes the dtype of its tensor, and the id if the tensor has one. Tensors of wrong shape or kind, or that
    cannot be read, are in the result's ``errors``, and their parameters stay as they are.

    Unlike Burn: shapes are compared as a file has them, so that a column layout can be loaded at any time.

    Args:
        module: takes the values.
        tensors: of two with one name, the last counts.
        filter: which parameters; it sees the module's own names.
        adapter: changes the tensors.
        skip_enum_variants: leave the names of enum variants out of paths.
        check: is shown the result before anything is changed; what it raises leaves the module as it was.

    Example:
        >>> from burnpy.nn import LinearConfig
        >>> source, target = LinearConfig(2, 3).init(), LinearConfig(2, 3).init()
        >>> apply(target, collect(source)).applied
        ['weight', 'bias']
    """
    loader = _Loader({tensor.name: tensor for tensor in tensors}, filter, adapter)
    for place in _places(module, skip_enum_variants):
        loader.load(place)
    result = loader.finished()
    if check is not None:
        check(result)
    with STEP:
        for leaf, value, id in loader.made:
            assign(leaf, value, id)
    return result


class _Loader:
    """Finds the tensor of each parameter, and makes the values, but assigns none."""

    def __init__(
        self, tensors: dict[str, TensorSnapshot], filter: PathFilter | None, adapter: ModuleAdapter | None
    ) -> None:
        self.tensors = tensors
        self.filter = filter
        self.adapter = adapter
        self.result = ApplyResult()
        self.made: list[tuple[Leaf, Tensor, int | None]] = []
        self._unused = dict.fromkeys(tensors)

    def load(self, place: _Place) -> None:
        """Make the value of a parameter, or note what is in the way."""
        found = self._found(place)
        if found is None:
            self.result.missing.append((place.path, place.container_path))
            return
        self._unused.pop(found.name, None)
        try:
            adapted = self._adapted(found, place)
        except Exception as error:
            self.result.errors.append(AdapterError(place.path, error))
            return
        if not _accepts(self.filter, place):
            self.result.skipped.append(place.path)
        elif self._fits(adapted, place):
            self._make(adapted, place, found)

    def finished(self) -> ApplyResult:
        """The result, in order."""
        self.result.skipped.sort()
        self.result.missing.sort()
        self.result.unused = sorted(self._unused)
        return self.result

    def _found(self, place: _Place) -> TensorSnapshot | None:
        found = self.tensors.get(place.path)
        module_type = ModuleContext(place.container).module_type()
        if found is not None or self.adapter is None or module_type is None:
            return found
        owner, dot, name = place.path.rpartition(".")
        other = self.adapter.get_alternative_param_name(name, module_type)
        return None if other is None else self.tensors.get(f"{owner}{dot}{other}")

    def _adapted(self, tensor: TensorSnapshot, place: _Place) -> TensorSnapshot:
        tensor = tensor.rename(place.path).with_container(place.container)
        return tensor if self.adapter is None else self.adapter.adapt(tensor, ModuleContext(place.container))

    def _fits(self, tensor: TensorSnapshot, place: _Place) -> bool:
        leaf, errors = place.leaf, self.result.errors
        kind = "float" if isinstance(leaf, RunningState) else leaf.kind
        if not _is_of(tensor.dtype, kind):
            expected = Device.cpu().settings().get(f"{kind}_dtype", "bool")
            errors.append(DTypeMismatch(place.path, expected=expected, found=tensor.dtype))
            return False
        shape = recorded_shape(leaf)
        if tensor.shape != shape:
            errors.append(ShapeMismatch(place.path, expected=shape, found=tensor.shape))
            return False
        return True

    def _make(self, tensor: TensorSnapshot, place: _Place, found: TensorSnapshot) -> None:
        try:
            value = tensor_of(tensor.to_numpy(), tensor.scheme or tensor.dtype, tensor.shape)
        except (BurnpyError, OSError, RuntimeError, ValueError) as error:
            self.result.errors.append(LoadError(place.path, error))
            return
        if isinstance(place.leaf, Param) and place.leaf.kind == "bool":
            value = value.cast("bool")
        self.made.append((place.leaf, taken_over(place.leaf, value), tensor.param_id))
        self.result.applied.append(place.path)
        if found.name != place.path:
            self.result.renamed.append((place.path, found.name))
        if tensor.dtype != found.dtype:
            self.result.cast.append((place.path, found.dtype, tensor.dtype))


def _places(
    value: object, skip_enum_variants: bool, path: str = "", container: tuple[str, ...] = ()
) -> Iterator[_Place]:
    if isinstance(value, Param | RunningState):
        yield _Place(path, value, container)
    if isinstance(value, Flag):
        return
    kind = "Reparameterization" if isinstance(value, Param) else container_type(value)
    skipped = skip_enum_variants and kind.startswith("Enum:")
    for name, child in children(value):
        below = path if skipped else f"{path}.{name}" if path else name
        yield from _places(child, skip_enum_variants, below, (*container, kind))


def _snapshot(place: _Place) -> TensorSnapshot:
    tensor, id = recorded(place.leaf), place.leaf.id.val()
    entry = Entry(place.path, tensor, id)
    return TensorSnapshot(
        entry.name,
        entry.scheme or entry.dtype,
        entry.shape,
        tensor.numpy,
        param_id=id,
        container=place.container,
    )


def _accepts(filter: PathFilter | None, place: _Place) -> bool:
    return filter is None or filter.matches_with_container(place.path, place.container_path)


def _is_of(dtype: str, kind: str) -> bool:
    if kind == "float":
        return is_float(dtype) or dtype == "qfloat"
    if kind == "int":
        return kind_of(dtype) == "int"
    return kind_of(dtype) == "bool" or dtype in _BOOLS
