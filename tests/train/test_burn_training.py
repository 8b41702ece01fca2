"""Trainings, resumed trainings and evaluations that Burn ran, run again here: files, values, parameters.

Where burnpy is not as Burn, by name:

- A run that was stopped before it began processes no batch (Burn: one, its next version: none):
  ``stopped_before_launch``.
- ``checkpoint(k)`` without checkpointers is refused, and does not skip epochs: ``skip_without_checkpointers``,
  ``no_epoch_left``.
- A run that is stopped leaves a set in the middle of its epoch, so that it can go on there: ``stop_in_training``,
  ``stop_in_validation``.
- An evaluation has a last line per file, and a file for metrics that give a value at the end alone.
- ``experiment.log`` has no line per batch.
- Of ratios (precision, recall, F-beta, areas under curves) burnpy writes the double nearest to the quotient; Burn, that
  of single precision.
- ``classification_batchnorm`` from its first batch on: a weight ends 1.03e-5 from Burn's. In double precision the run
  ends 5.7e-6 from burnpy's and 4.6e-6 from Burn's: both are rounding, which batch norm amplifies. From any set of
  Burn's the end agrees to 5e-7.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnpy as bp
from burnpy.data import Dataset
from burnpy.errors import TrainingError
from burnpy.train import EvaluatorBuilder, Interrupter, LearnerSummary
from burnpy.train.checkpoint import KeepLastNCheckpoints
from burnpy.train.metric import AccuracyMetric, AurocMetric, ClassReduction, LossMetric
from burnpy.train.renderer import QuietMetricsRenderer
from tests.train.burn_runs import (
    FOLDER,
    MANIFEST,
    PARTS,
    TRAININGS,
    batch,
    copy_set,
    learner_of,
    loader,
    logs,
    model_of,
    parameters,
    rows,
    training_of,
)

pytestmark = pytest.mark.golden

RESUMED = [kind for kind, told in TRAININGS.items() if "resumed" in told]
UNUSUAL: dict[str, dict[str, Any]] = MANIFEST["unusual"]
SAME_BYTES = ("Accuracy.log", "Top-K_Accuracy_@_TopK(2).log")
"""Counts, and so free of rounding."""


def close(values: Any) -> Any:
    return pytest.approx(values, rel=1e-5, abs=1e-5)


def assert_parameters(model: bp.Module, expected: dict[str, Any], within: float = 1e-5) -> None:
    found = parameters(model)
    assert found.keys() == expected.keys()
    for path, values in expected.items():
        assert found[path] == pytest.approx(values, rel=within, abs=within), path


def assert_files(folder: Path, expected: dict[str, str]) -> None:
    """The same files of the same lines; equal to the byte where nothing is rounded."""
    found = logs(folder)
    assert found.keys() == expected.keys()
    for name, text in expected.items():
        assert shape(found[name]) == shape(text), name
        # Percentages are a hundred times the ratio that single precision holds to 7 digits.
        assert numbers(found[name]) == pytest.approx(numbers(text), rel=1e-5, abs=1e-5, nan_ok=True), name
        if name.endswith(SAME_BYTES):
            assert found[name] == text, name


def shape(text: str) -> list[list[str]]:
    """What a line says beside its value: the count, or that it is final."""
    return [line.split(",")[1:] for line in text.splitlines()]


def numbers(text: str) -> list[float]:
    return [float(line.split(",")[0]) for line in text.splitlines()]


def checkpoint_files(folder: Path) -> list[str]:
    """Those that Burn has, too."""
    return sorted(p.name for p in folder.glob("checkpoint/*") if p.name.startswith(PARTS))


def of_run(folder: Path) -> dict[str, str]:
    return {name: text for name, text in logs(folder).items() if not name.startswith("test")}


@pytest.mark.parametrize("kind", TRAININGS)
def test_a_whole_training_gives_burns_files_and_parameters(tmp_path: Path, kind: str) -> None:
    result = training_of(kind, tmp_path).launch(learner_of(kind))
    told = TRAININGS[kind]["run"]
    within = 2e-5 if kind == "classification_batchnorm" else 1e-5
    assert_parameters(result.model, told["final_parameters"], within)
    assert_files(tmp_path, of_run(FOLDER / kind))
    assert checkpoint_files(tmp_path) == told["checkpoint_files"]
    assert (result.interrupted, result.error) == (None, None)


@pytest.mark.parametrize("kind", TRAININGS)
def test_the_summary_of_a_training_is_burns(tmp_path: Path, kind: str) -> None:
    training_of(kind, tmp_path).launch(learner_of(kind))
    names = ["Accuracy", "Learning Rate", "Loss"]
    assert cells(str(LearnerSummary(tmp_path, names))) == cells(
        without_tests(TRAININGS[kind]["summary_text"])
    )


@pytest.mark.parametrize("kind", TRAININGS)
def test_the_summary_of_burns_folder_is_burns(kind: str) -> None:
    summary = str(LearnerSummary(FOLDER / kind, ["Accuracy", "Learning Rate", "Loss"]))
    assert cells(without_tests(summary)) == cells(TRAININGS[kind]["summary_text"])


def without_tests(summary: str) -> str:
    """Unlike Burn, the table has evaluations."""
    return "\n".join(line for line in summary.splitlines() if not line.startswith("| Test"))


def cells(table: str) -> list[list[str]]:
    """Columns are as wide as the longest label, which Burn counts even if it has no row."""
    rows = [line.split("|") for line in table.splitlines() if not line.startswith("|-")]
    return [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize("how", ["checkpoint", "resume"])
@pytest.mark.parametrize("epoch", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", RESUMED)
def test_a_set_of_burn_goes_on_as_in_burn(
    tmp_path: Path, kind: str, epoch: int, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    copy_set(kind, tmp_path, epoch)
    keywords: dict[str, Any] = {how: epoch}
    result = training_of(kind, tmp_path, **keywords).launch(learner_of(kind, fresh=True))
    assert_parameters(result.model, TRAININGS[kind]["resumed"]["final_parameters"])
    # No shuffling and no dropout: what Burn does not store makes no difference. The files are those of the whole run
    # but for the rate that is told before the first step, which is 0 again.
    burn = of_run(FOLDER / kind) | (of_run(FOLDER / f"{kind}_resumed") if epoch == 2 else {})
    later = {n: t for n, t in burn.items() if int(n.split("/")[1].split("-")[1]) > epoch}
    if epoch != 2:
        rates = f"train/epoch-{epoch + 1}/Learning_Rate.log"
        later[rates] = (tmp_path / rates).read_text()
    assert_files(tmp_path, later)
    told = [record.message for record in caplog.records if record.levelname == "WARNING"]
    missing = f"the checkpoint of epoch {epoch} has no trainer file: random numbers"
    assert [message.startswith(missing) for message in told] == ([True] if how == "resume" else [])


@pytest.mark.parametrize("kind", RESUMED)
def test_the_newest_set_of_burns_folder_is_the_latest(tmp_path: Path, kind: str) -> None:
    for part in PARTS:
        (tmp_path / "checkpoint").mkdir(exist_ok=True)
        for epoch in (1, 2):
            name = f"checkpoint/{part}-{epoch}.bpk"
            (tmp_path / name).write_bytes((FOLDER / kind / name).read_bytes())
    training_of(kind, tmp_path, resume="latest").launch(learner_of(kind, fresh=True))
    assert_files(tmp_path, logs(FOLDER / f"{kind}_resumed"))


@pytest.mark.parametrize("kind", TRAININGS)
def test_names_ids_and_scalars_of_what_is_saved_are_burns(tmp_path: Path, kind: str) -> None:
    training_of(kind, tmp_path, num_epochs=1).launch(learner_of(kind))
    for part in PARTS:
        name = f"{kind}/checkpoint/{part}-1.bpk"
        told = MANIFEST["files"].get(name)
        if told is None:
            # The strategy gave it up.
            continue
        with bp.pack.Reader.from_file(tmp_path / "checkpoint" / f"{part}-1.bpk") as reader:
            random_ids = [t["name"] for t in told["tensors"] if "running_" in t["name"]]
            infos = [reader.info(name) for name in reader.keys()]  # noqa: SIM118 (not a mapping)
            found = {info.name: (list(info.shape), info.param_id) for info in infos}
            wanted = {t["name"]: (t["shape"], t["param_id"]) for t in told["tensors"]}
            for tensor in random_ids:
                found[tensor], wanted[tensor] = (found[tensor][0], None), (wanted[tensor][0], None)
            assert found == wanted
            assert {n: {s.kind: s.value} for n, s in reader.scalars().items()} == told["scalars"]


# ---- evaluation


def evaluated(folder: Path) -> Any:
    model = model_of("classification", fresh=True)
    model = model.load_record(bp.ModuleRecord.load(FOLDER / "classification" / "checkpoint" / "model-5"))
    builder = EvaluatorBuilder(folder).renderer(QuietMetricsRenderer())
    builder.metrics(AccuracyMetric(), LossMetric(), AurocMetric.multiclass(ClassReduction.Macro))
    tests = [("Valid set", loader("valid", "classification")), ("train", loader("train", "classification"))]
    return builder.build(model.valid()).eval_all(tests)


def test_an_evaluation_writes_burns_lines_and_one_more(tmp_path: Path) -> None:
    evaluated(tmp_path)
    burn = {n: t for n, t in logs(FOLDER / "classification").items() if n.startswith("test")}
    found = logs(tmp_path)
    assert set(found) - set(burn) == {f"test/{tag}/AUROC_[Macro].log" for tag in ("train", "valid-set")}
    for name, text in burn.items():
        *lines, last = found[name].splitlines()
        assert last.endswith(",final")
        assert shape("\n".join(lines)) == shape(text)
        assert numbers("\n".join(lines)) == close(numbers(text))
        if name.endswith(SAME_BYTES):
            assert lines == text.splitlines()


def test_the_values_of_an_evaluation_are_those_of_the_last_validation(tmp_path: Path) -> None:
    last = TRAININGS["classification"]["run"]["metrics"]["valid"]["epoch-5"]
    values = evaluated(tmp_path).metrics["Valid set"]
    assert values["Accuracy"] == last["Accuracy"][-1][0]
    assert values["Loss"] == close(last["Loss"][-1][0])


# ---- unusual runs of three epochs


class Failing(Dataset[Any]):
    """An item cannot be read from a time on."""

    def __init__(self, items: list[Any], index: int) -> None:
        self.items, self.index, self.seen = items, index, 0

    def __len__(self) -> int:
        return len(self.items)

    def get(self, index: int) -> Any:
        self.seen += index == self.index
        if index == self.index and self.seen > 1:
            raise OSError("made to fail")
        return self.items[index]


def stopping(interrupter: Interrupter, at: int) -> Callable[[Any, bp.Device], Any]:
    """Stops the run while a batch is made, the first being 1."""
    made = []

    def make(some: Any, device: bp.Device) -> Any:
        made.append(1)
        if len(made) == at:
            interrupter.stop("made to stop")
        return batch(some, device)

    return make


def choices(name: str) -> dict[str, Any]:
    interrupter = Interrupter()
    plain = (loader("train"), loader("valid"))
    return {
        "accumulation_larger_than_epoch": lambda: {"grads_accumulation": 100},
        "accumulation_one": lambda: {"grads_accumulation": 1},
        "accumulation_three": lambda: {"grads_accumulation": 3},
        "error_in_training": lambda: {
            "loaders": (loader("train", dataset=Failing(rows("train"), 7)), plain[1])
        },
        "error_in_validation": lambda: {
            "loaders": (plain[0], loader("valid", dataset=Failing(rows("valid"), 1)))
        },
        "stop_in_training": lambda: {
            "interrupter": interrupter,
            "loaders": (loader("train", batcher=stopping(interrupter, 10)), plain[1]),
        },
        "stop_in_validation": lambda: {
            "interrupter": interrupter,
            "loaders": (plain[0], loader("valid", batcher=stopping(interrupter, 5))),
        },
    }[name]()


REFUSED = ["skip_without_checkpointers", "no_epoch_left", "accumulation_zero"]


@pytest.mark.parametrize("name", [n for n in UNUSUAL if n not in (*REFUSED, "stopped_before_launch")])
def test_an_unusual_run_ends_as_in_burn(tmp_path: Path, name: str) -> None:
    options = {"num_epochs": 3, "checkpointing_strategy": KeepLastNCheckpoints(100)} | choices(name)
    run = training_of("regression", tmp_path, **options)
    result = run.launch(learner_of("regression"), raise_errors=False)
    told = UNUSUAL[name]
    assert_parameters(result.model, told["final_parameters"])
    assert_files(tmp_path, text_of(told["metrics"]))
    assert checkpoint_files(tmp_path) == told["checkpoint_files"]
    assert (result.interrupted is not None, result.error is not None) == (told["interrupted"], told["failed"])


def text_of(metrics: dict[str, Any]) -> dict[str, str]:
    """Files as the manifest has them."""
    return {
        f"{split}/{epoch}/{metric}.log": "".join(",".join(map(str, line)) + "\n" for line in lines)
        for split, epochs in metrics.items()
        for epoch, files in epochs.items()
        for metric, lines in files.items()
    }


@pytest.mark.parametrize("name", ["error_in_training", "error_in_validation"])
def test_an_error_of_the_data_is_raised_at_the_end(tmp_path: Path, name: str) -> None:
    run = training_of("regression", tmp_path, **{"num_epochs": 3} | choices(name))
    with pytest.raises(TrainingError, match="made to fail") as caught:
        run.launch(learner_of("regression"))
    assert_parameters(caught.value.result.model, UNUSUAL[name]["final_parameters"])


def test_a_run_stopped_before_it_begins_processes_nothing(tmp_path: Path) -> None:
    interrupter = Interrupter()
    interrupter.stop()
    learner = learner_of("regression")
    before = parameters(learner.model)
    result = training_of("regression", tmp_path, interrupter=interrupter).launch(learner)
    assert result.interrupted is not None
    assert parameters(result.model) == before


@pytest.mark.parametrize("epoch", [2, 3])
def test_going_on_without_checkpointers_is_refused(tmp_path: Path, epoch: int) -> None:
    run = training_of("regression", tmp_path, checkpoint=epoch, default_checkpointers=False)
    with pytest.raises(ValueError, match="to go on from a checkpoint, have checkpointers"):
        run.launch(learner_of("regression"))


def test_an_accumulation_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="grads_accumulation must be 1 or more, got 0"):
        training_of("regression", tmp_path, grads_accumulation=0)


def test_every_unusual_run_is_a_test() -> None:
    assert {*REFUSED, "stopped_before_launch"} < set(UNUSUAL)
    for name in set(UNUSUAL) - {*REFUSED, "stopped_before_launch"}:
        choices(name)
