"""The base class of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from burnpy._core import Device, Tensor
from burnpy.errors import DTypeError, ShapeError
from burnpy.module.display import DisplaySettings, display
from burnpy.module.flag import Flag
from burnpy.module.group import ParamGroup
from burnpy.module.param import Param
from burnpy.module.running_state import RunningState
from burnpy.module.steps import STEP
from burnpy.module.traversal import Leaf, children, container_type, leaves, rebuilt
from burnpy.module.visitor import ModuleMapper, ModuleVisitor

if TYPE_CHECKING:
    from burnpy.module.lora import Lora, QLora
    from burnpy.module.quantizer import Quantizer
    from burnpy.module.reparameterization import Reparameterizer
    from burnpy.record import ModuleRecord
    from burnpy.store import ApplyResult, ModuleStore

__all__ = ["Module"]


class Module:
    """Base of what has parameters: its attributes are parameters, modules, and lists, tuples or dicts of them.

    Attributes in the order in which they were first assigned are the order of its record; ``None`` is an absent part;
    all else (numbers, texts, tensors, functions) is no part of it. ``module(x)`` is ``module.forward(x)``.

    Example:
        >>> from burnpy import Tensor
        >>> class Scale(Module):
        ...     def __init__(self, size):
        ...         self.weight = Param.from_tensor(Tensor.ones((size,)))
        ...     def forward(self, x):
        ...         return x * self.weight.val()
        >>> Scale(3)(Tensor([1.0, 2.0, 3.0])).shape, Scale(3).num_params()
        ((3,), 3)

    Source: Burn ``module::Module``.
    """

    _burnpy_module: ClassVar[str] = "Struct"
    _path_names: ClassVar[Mapping[str, str]] = {}
    _skipped: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if any(base.__name__ == "EnumModule" for base in cls.__mro__[1:]):
            cls._burnpy_module = "Enum"

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What :meth:`forward` gives."""
        return self.forward(*args, **kwargs)

    def named_params(self, *, flags: bool = False) -> Iterator[tuple[str, Any]]:
        """Paths and parameters in the order of the record, running states included, and flags if asked for."""
        return ((path, leaf) for path, leaf in leaves(self) if flags or not isinstance(leaf, Flag))

    def visit(self, visitor: ModuleVisitor) -> None:
        """Show every parameter to a visitor, in the order of the record."""
        _visit(self, visitor)

    def map(self, mapper: ModuleMapper) -> Self:
        """A module of the parameters that a mapper makes of these; this one stays as it is. Ties stay tied."""
        return self._rebuilt(lambda _, leaf: _mapped(leaf, mapper))

    def clone(self) -> Self:
        """An independent module with the same values and ids, those of one moment (``burnpy.module.between_steps``).

        Cost: none of the size of the parameters; memory is shared until one of them changes.
        """
        return self._copied(lambda _, leaf: leaf if isinstance(leaf, Flag) else leaf.clone())

    def _copied(self, leaf: Callable[[str, Leaf], Leaf]) -> Self:
        """:meth:`_rebuilt` of values of one moment."""
        with STEP:
            return self._rebuilt(leaf)

    def _rebuilt(self, leaf: Callable[[str, Leaf], Leaf]) -> Self:
        module: Self = rebuilt(self, leaf)
        return module

    def num_params(self) -> int:
        """How many numbers the parameters of floats hold, running states and frozen ones included.

        A tied parameter counts under each of its paths. Makes no value.
        """
        params = (
            leaf for _, leaf in self.named_params() if isinstance(leaf, RunningState) or leaf.kind == "float"
        )
        return sum(
            _size(leaf.value().shape if isinstance(leaf, RunningState) else leaf.lazy_shape())
            for leaf in params
        )

    def devices(self) -> list[Device]:
        """The devices of the parameters, each once. Makes no value."""
        found: list[Device] = []
        for _, leaf in self.named_params():
            device = leaf.value().device if isinstance(leaf, RunningState) else leaf.lazy_device()
            if device not in found:
                found.append(device)
        return found

    def set_require_grad(self, wanted: bool) -> Self:
        """Have all parameters of floats train or not; returns the module itself."""
        return self.set_require_grad_group(ParamGroup.all(), wanted)

    def set_require_grad_group(self, group: ParamGroup, wanted: bool) -> Self:
        """:meth:`set_require_grad` of those in a group."""
        group = ParamGroup.expect(group)
        for path, leaf in self.named_params():
            if isinstance(leaf, Param) and leaf.kind == "float" and group.matches(leaf.id, path):
                leaf.set_require_grad(wanted)
        return self

    def no_grad(self) -> Self:
        """Have no parameter train; flags stay. Returns the module itself."""
        return self.set_require_grad(False)

    def freeze(self) -> Self:
        """Have no parameter train, and turn all flags off; returns the module itself."""
        return self.freeze_group(ParamGroup.all())

    def freeze_group(self, group: ParamGroup) -> Self:
        """:meth:`freeze` of those in a group."""
        return self._freeze(group, frozen=True)

    def unfreeze(self) -> Self:
        """Have all parameters of floats train, and turn all flags on; returns the module itself."""
        return self.unfreeze_group(ParamGroup.all())

    def unfreeze_group(self, group: ParamGroup) -> Self:
        """:meth:`unfreeze` of those in a group."""
        return self._freeze(group, frozen=False)

    def _freeze(self, group: ParamGroup, *, frozen: bool) -> Self:
        self.set_require_grad_group(group, not frozen)
        flags = {id(leaf): path for path, leaf in leaves(self) if isinstance(leaf, Flag)}

        def change(flag: Flag) -> Flag:
            return flag.with_value(not frozen) if group.matches(flag.id, flags[id(flag)]) else flag

        _replace_flags(self, change)
        return self

    def valid(self) -> Self:
        """A module for inference: plain tensors that ask for no gradient, flags off. This one stays as it is."""
        return self._copied(_valid)

    def train(self) -> Self:
        """A module for training again: on an autodiff device, as configured. This one stays as it is."""
        return self._copied(_train)

    def to_device(self, device: Device) -> Self:
        """A module on a device; whether it does autodiff is the device's. This one stays as it is."""
        return self._copied(lambda _, leaf: _moved(leaf, device))

    def fork(self, device: Device) -> Self:
        """A trainable copy on a device. This one stays as it is."""
        return self.to_device(device)

    def cast(self, dtype: Any) -> Self:
        """A module whose parameters of floats have another dtype. This one stays as it is.

        Raises:
            DTypeError: it is no dtype of floats.
        """
        if Tensor.zeros((0,)).cast(dtype).kind != "float":
            raise DTypeError(f"cast: the parameters of floats cannot become {dtype}", dtype=str(dtype))

        def leaf(_: str, leaf: Leaf) -> Leaf:
            if isinstance(leaf, RunningState):
                return RunningState(leaf.fold().cast(dtype), id=leaf.id)
            if isinstance(leaf, Param) and leaf.kind == "float":
                return leaf.map(lambda value: _beside(value, value.inner().cast(dtype)))
            return leaf

        return self._rebuilt(leaf)

    def apply_reparameterization(self, reparameterizer: Reparameterizer) -> Self:
        """A module whose parameters of floats are seen through what they are given. This one stays as it is.

        Raises:
            ValueError: a parameter that is given something has something already.
        """
        from burnpy.module.reparameterization import attached

        def leaf(path: str, leaf: Leaf) -> Leaf:
            if isinstance(leaf, Param) and leaf.kind == "float":
                return attached(reparameterizer, path, leaf)
            return leaf if isinstance(leaf, Flag) else leaf.clone()

        return self._rebuilt(leaf)

    def apply_lora(self, lora: Lora) -> Self:
        """A module whose matrices are frozen, with two thin factors each that train. This one stays as it is.

        Everything else is frozen too, until :meth:`unfreeze` or :meth:`set_require_grad`.

        Raises:
            ValueError: a matrix has a reparameterization already.
        """
        return self.apply_reparameterization(lora)

    def apply_qlora(self, qlora: QLora) -> Self:
        """:meth:`quantize_weights`, then :meth:`apply_lora`. This one stays as it is."""
        return self.quantize_weights(qlora.quantizer).apply_lora(qlora.lora)

    def materialize(self) -> Self:
        """A module with plain parameters: what they are seen through is folded into them, and gone.

        A quantized base becomes dense. Ids stay, and whether the base trains. This one stays as it is.
        """
        module = self._rebuilt(_folded)
        for leaf in [leaf for _, leaf in module.named_params() if isinstance(leaf, Param)]:
            leaf.reparam = None
        return module

    def quantize_weights(self, quantizer: Quantizer) -> Self:
        """A module whose parameters of floats are stored in few bits, and train no more. This one stays as it is.

        Biases are quantized too; :meth:`quantize_weights_group` chooses. Values are made floats again on every use.

        Raises:
            DTypeError: a parameter is quantized already.

        Unlike Burn: running statistics stay as they are.
        """
        return self.quantize_weights_group(quantizer, quantizer.group)

    def quantize_weights_group(self, quantizer: Quantizer, group: ParamGroup) -> Self:
        """:meth:`quantize_weights` of those in a group."""
        group = ParamGroup.expect(group)

        def leaf(path: str, leaf: Leaf) -> Leaf:
            if isinstance(leaf, Param) and leaf.kind == "float" and group.matches(leaf.id, path):
                try:
                    return leaf.map(lambda value: _beside(value, quantizer.quantize(value))).set_require_grad(
                        False
                    )
                except (DTypeError, ShapeError) as error:
                    raise type(error)(f"{path}: {error}") from None
            return leaf if isinstance(leaf, Flag) else leaf.clone()

        return self._rebuilt(leaf)

    def into_record(self, group: ParamGroup | None = None) -> ModuleRecord:
        """The parameters as a record, or those in a group; from any thread, and never half a step of an optimizer.

        Several records of one moment are taken in ``burnpy.module.between_steps``.

        Cost: none of their size; later changes of the module do not show in the record.
        """
        from burnpy.record import ModuleRecord

        return ModuleRecord.from_module(self, group)

    def into_record_group(self, group: ParamGroup) -> ModuleRecord:
        """:meth:`into_record` of those in a group."""
        return self.into_record(group)

    def load_record(self, record: ModuleRecord, **options: Any) -> Self:
        """Take the values and ids of a record over, all or none; returns the module itself.

        Raises:
            RecordError: something is missing, unused or of another shape; the module is as it was.
            TypeError: it is no record of a module.
        """
        from burnpy.record import ModuleRecord

        ModuleRecord.expect(record).apply(self, **options)
        return self

    try_load_record = load_record

    def save_file(self, path: Any, **options: Any) -> None:
        """Write the record to a file, ``.bpk`` appended."""
        self.into_record().save(path, **options)

    def load_file(self, path: Any, **options: Any) -> Self:
        """:meth:`load_record` of a file."""
        from burnpy.record import ModuleRecord

        return self.load_record(ModuleRecord.load(path), **options)

    try_load_file = load_file

    def collect(self, filter: Any = None, adapter: Any = None, skip_enum_variants: bool = False) -> list[Any]:
        """The parameters as lazy tensors; see ``burnpy.store.module_snapshot.collect``."""
        from burnpy.store.module_snapshot import collect

        return list(collect(self, filter, adapter, skip_enum_variants))

    # Open arguments, since a reparameterization has an `apply` of its own.
    def apply(self, *tensors: Any, **options: Any) -> Any:
        """Take lazy tensors over, by path; see ``burnpy.store.module_snapshot.apply``. Returns what became of each."""
        from burnpy.store.module_snapshot import apply

        return apply(self, *tensors, **options)

    def save_into(self, store: ModuleStore) -> None:
        """Save into a file of Burn, safetensors or PyTorch: a store of ``burnpy.store``."""
        store.collect_from(self)

    def load_from(self, store: ModuleStore) -> ApplyResult:
        """Load from a file of Burn, safetensors or PyTorch, all or nothing; returns what became of each tensor.

        Raises:
            Error, StoreError: a tensor is of wrong shape or kind, or the file lacks some; ``result`` has all of it.
        """
        return store.apply_to(self)

    def display_content(self) -> list[tuple[str, object]] | None:
        """What ``str()`` shows beside the type: names and values; ``None`` for all fields. Override to choose."""
        return None

    def display(self, settings: DisplaySettings | None = None) -> str:
        """The text of ``str()`` with other settings."""
        return display(self, settings or DisplaySettings())

    def __str__(self) -> str:
        return self.display()

    __repr__ = __str__


def _beside(value: Tensor, other: Tensor) -> Tensor:
    """A plain tensor on the device of a value."""
    return other.autodiff() if value.is_autodiff() else other


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _visit(value: object, visitor: ModuleVisitor) -> None:
    if isinstance(value, Flag):
        visitor.visit_flag(value)
    elif isinstance(value, RunningState):
        visitor.visit_float(Param.initialized(value.id, value.value()))
    elif isinstance(value, Param):
        getattr(visitor, f"visit_{value.kind}")(value)
    kind = "Reparameterization" if isinstance(value, Param) else container_type(value)
    for name, child in children(value):
        visitor.enter_module(name, kind)
        _visit(child, visitor)
        visitor.exit_module(name, kind)


def _folded(_: str, leaf: Leaf) -> Leaf:
    if isinstance(leaf, Param) and leaf.reparam is not None:
        return leaf.map(lambda _: leaf.val().detach())
    return leaf if isinstance(leaf, Flag) else leaf.clone()


def _mapped(leaf: Leaf, mapper: ModuleMapper) -> Leaf:
    if isinstance(leaf, Flag):
        return mapper.map_flag(leaf)
    if isinstance(leaf, RunningState):
        return RunningState(mapper.map_float(Param.initialized(leaf.id, leaf.fold())).base(), id=leaf.id)
    mapped: Param = getattr(mapper, f"map_{leaf.kind}")(leaf)
    return mapped


def _valid(_: str, leaf: Leaf) -> Leaf:
    if isinstance(leaf, Flag):
        return leaf.valid()
    if isinstance(leaf, RunningState):
        return leaf.clone()
    return leaf.with_device(leaf.lazy_device().inner(), draw=True)


def _train(_: str, leaf: Leaf) -> Leaf:
    if isinstance(leaf, Flag):
        return leaf.train()
    if isinstance(leaf, RunningState):
        return leaf.clone()
    return leaf.with_device(leaf.lazy_device().autodiff(), draw=True)


def _moved(leaf: Leaf, device: Device) -> Leaf:
    if isinstance(leaf, Flag):
        return leaf
    return leaf.clone() if isinstance(leaf, RunningState) else leaf.with_device(device)


def _replace_flags(value: Any, change: Callable[[Flag], Flag]) -> None:
    """Exchange the flags of a module where they are."""
    fields = vars(value) if hasattr(type(value), "_burnpy_module") else value
    for name, item in list(fields.items() if isinstance(fields, dict) else enumerate(fields)):
        if isinstance(item, Flag):
            fields[name] = change(item)
        elif hasattr(type(item), "_burnpy_module") or isinstance(item, dict | list | tuple):
            _replace_flags(item, change)
