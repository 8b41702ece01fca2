"""States as flat names: every kind of field, and what happens when leaves are missing or wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from burnpy import Device, Tensor
from burnpy.pack import Scalar
from burnpy.record import Bool, Float, Int, RecordState, StateSink, StateSource, UInt
from burnpy.record.state import join_index, join_path


class Nested(RecordState):
    weight: Tensor
    step: Int


class Whole(RecordState):
    t: Tensor
    opt_tensor: Tensor | None
    history: list[Tensor]
    count: UInt
    opt_scalar: Float | None
    nested: Nested
    opt_nested: Nested | None


class Options(RecordState):
    x: Tensor | None = None
    on: Bool | None = None


class Holder(RecordState):
    inner: Options | None = None


class Empty(RecordState):
    pass


class Text(RecordState):
    name: str


class OptionalList(RecordState):
    items: list[Tensor] | None


def _whole() -> Whole:
    return Whole(
        t=Tensor([1.0, 2.0]),
        opt_tensor=Tensor([3.0]),
        history=[Tensor([4.0]), Tensor([5.0, 6.0])],
        count=7,
        opt_scalar=8.5,
        nested=Nested(Tensor([9.0]), 10),
        opt_nested=Nested(Tensor([11.0]), 12),
    )


def _flat(state: RecordState, prefix: str = "p") -> StateSink:
    sink = StateSink()
    state.state_flatten(prefix, sink)
    return sink


def _source(sink: StateSink) -> StateSource:
    return StateSource(sink.scalars, sink.tensors)


def test_the_names_are_those_of_the_fields_in_the_order_of_declaration() -> None:
    sink = _flat(_whole())
    assert list(sink.tensors) == [
        "p.t", "p.opt_tensor", "p.history.0", "p.history.1", "p.nested.weight", "p.opt_nested.weight",
    ]  # fmt: skip
    assert sink.scalars == {
        "p.history.len": Scalar.uint(2),
        "p.count": Scalar.uint(7),
        "p.opt_scalar": Scalar.float_(8.5),
        "p.nested.step": Scalar.int_(10),
        "p.opt_nested.step": Scalar.int_(12),
    }


@pytest.mark.parametrize("prefix", ["", "p", "7.momentum"])
def test_what_is_written_is_read_back(prefix: str) -> None:
    source = _source(_flat(_whole(), prefix))
    back = Whole.state_unflatten(prefix, source)
    assert back is not None and back.opt_tensor is not None and back.opt_nested is not None
    assert back.t.tolist() == [1.0, 2.0] and back.opt_tensor.tolist() == [3.0]
    assert [item.tolist() for item in back.history] == [[4.0], [5.0, 6.0]]
    assert (back.count, back.opt_scalar, back.nested.step, back.opt_nested.step) == (7, 8.5, 10, 12)
    assert (back.nested.weight.tolist(), back.opt_nested.weight.tolist()) == ([9.0], [11.0])
    assert source.unread() == []


def test_absent_options_and_an_empty_list_come_back_as_they_were() -> None:
    state = Whole(Tensor([1.0]), None, [], 0, None, Nested(Tensor([2.0]), -1), None)
    sink = _flat(state)
    assert set(sink.tensors) == {"p.t", "p.nested.weight"}
    assert set(sink.scalars) == {"p.history.len", "p.count", "p.nested.step"}
    back = Whole.state_unflatten("p", _source(sink))
    assert back is not None
    assert (back.opt_tensor, back.history, back.opt_scalar, back.opt_nested) == (None, [], None, None)


def test_an_optional_state_of_options_is_there_if_one_of_its_leaves_is() -> None:
    assert Holder.state_unflatten("p", _source(_flat(Holder()))).inner is None  # type: ignore[union-attr]
    back = Holder.state_unflatten("p", _source(_flat(Holder(Options(x=Tensor([1.0, 2.0]))))))
    assert back is not None and back.inner is not None and back.inner.x is not None
    assert back.inner.x.tolist() == [1.0, 2.0] and back.inner.on is None


def test_an_empty_source_gives_nothing_and_an_empty_state_writes_nothing() -> None:
    assert Whole.state_unflatten("p", StateSource()) is None
    sink = _flat(Empty())
    assert (sink.tensors, sink.scalars) == ({}, {})
    assert isinstance(Empty.state_unflatten("p", StateSource()), Empty)


@pytest.mark.parametrize(
    "missing", ["p.t", "p.history.1", "p.history.len", "p.count", "p.nested.weight", "p.nested.step"]
)
def test_without_a_leaf_that_is_no_option_there_is_no_state(missing: str) -> None:
    sink = _flat(_whole())
    sink.tensors.pop(missing, None)
    sink.scalars.pop(missing, None)
    assert Whole.state_unflatten("p", _source(sink)) is None


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        ("p.count", Scalar.int_(-1)),
        ("p.count", Scalar.float_(7.0)),
        ("p.history.len", Scalar.bool_(True)),
        ("p.history.len", Scalar.int_(-2)),
        ("p.history.len", Scalar.uint(2**64 - 1)),
        ("p.nested.step", Scalar.uint(2**63)),
    ],
)
def test_a_scalar_that_does_not_fit_leaves_no_state(name: str, scalar: Scalar) -> None:
    sink = _flat(_whole())
    sink.scalars[name] = scalar
    assert Whole.state_unflatten("p", _source(sink)) is None


def test_an_optional_scalar_that_does_not_fit_is_none() -> None:
    sink = _flat(_whole())
    sink.scalars["p.opt_scalar"] = Scalar.bool_(True)
    back = Whole.state_unflatten("p", _source(sink))
    assert back is not None and back.opt_scalar is None


def test_a_broken_optional_state_is_none_and_no_error() -> None:
    sink = _flat(_whole())
    del sink.scalars["p.opt_nested.step"]
    back = Whole.state_unflatten("p", _source(sink))
    assert back is not None and back.opt_nested is None


def test_a_prefix_ends_at_a_dot() -> None:
    source = StateSource({"p.inner_more.on": Scalar.bool_(True)})
    assert not source.has_under("p.inner") and source.has_under("p.inner_more") and source.has_under("")


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_a_state_keeps_its_dtype(dtype: str) -> None:
    back = Nested.state_unflatten("", _source(_flat(Nested(Tensor([0.5], dtype=dtype), 1), "")))
    assert back is not None and back.weight.dtype == dtype


def test_a_state_is_read_onto_the_device_that_is_asked_for() -> None:
    plain = Device.cpu()
    for device in (plain, plain.autodiff()):
        source = _source(_flat(Nested(Tensor([0.5]), 1)))
        back = Nested.state_unflatten("p", source, device)
        assert back is not None and back.weight.is_autodiff() == device.is_autodiff()


def test_a_state_is_written_without_its_graph() -> None:
    tracked = Tensor([1.0]).require_grad() * 2.0
    assert not _flat(Nested(tracked, 0)).tensors["p.weight"].is_autodiff()


def test_a_tensor_that_is_made_on_demand_is_made_once_it_is_asked_for() -> None:
    asked: list[str] = []

    def weight() -> Tensor:
        asked.append("weight")
        return Tensor([1.0])

    make: Callable[[], Tensor] = weight
    source = StateSource({"step": Scalar.int_(1)})
    source.insert_tensor("weight", make)
    assert asked == []
    assert Nested.state_unflatten("", source) is not None
    assert asked == ["weight"] and source.take_tensor("", "weight") is None


def test_names_that_nobody_reads_are_told() -> None:
    sink = _flat(_whole())
    sink.push_scalar("p", "extra", 1)
    sink.push_tensor("q", "extra", Tensor([1.0]))
    source = _source(sink)
    assert Whole.state_unflatten("p", source) is not None
    assert source.unread() == ["q.extra", "p.extra"]


def test_two_leaves_of_one_name_are_refused() -> None:
    sink = StateSink()
    sink.push_scalar("p", "a", 1)
    with pytest.raises(ValueError, match=r"two leaves of the name 'p\.a'"):
        sink.push_tensor("p", "a", Tensor([1.0]))


@pytest.mark.parametrize("cls", [Text, OptionalList])
def test_a_field_that_no_file_can_hold_is_refused(cls: type[RecordState]) -> None:
    with pytest.raises(TypeError, match=f"{cls.__name__}.*a state has no fields of type"):
        cls.state_unflatten("p", StateSource())


def test_a_leaf_that_must_be_there_is_told_if_it_is_not() -> None:
    with pytest.raises(TypeError, match=r"Nested\.weight must be set, got None"):
        _flat(Nested(None, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [-1, 2**64, 1.5, "7"])
def test_a_number_outside_its_type_is_refused(count: object) -> None:
    state = _whole()
    state.count = count  # type: ignore[assignment]
    with pytest.raises((ValueError, TypeError, OverflowError)):
        _flat(state)


def test_states_can_be_pickled() -> None:
    back = pickle.loads(pickle.dumps(_whole()))
    assert (back.count, back.history[1].tolist()) == (7, [5.0, 6.0])


def test_paths_are_joined_with_dots() -> None:
    assert (join_path("", "a"), join_path("p", "a")) == ("a", "p.a")
    assert (join_index("p", 0), join_index("", 12)) == ("p.0", "12")


def test_a_state_may_be_declared_in_a_function() -> None:
    class Inner(RecordState):
        count: UInt

    class Outer(RecordState):
        inner: Inner
        later: Later | None = None

    assert _flat(Outer(Inner(3))).scalars == {"p.inner.count": Scalar.uint(3)}


class Later(RecordState):
    count: UInt
