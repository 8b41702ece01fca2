"""Pages that are made of the sources and the records when the guide is built: into ``_generated``."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Suites of records in the order in which they are shown, and what they are.
SUITES = {
    "training": "Training steps",
    "fashion-mnist": "Epochs of Fashion-MNIST",
    "loop-overhead": "The loop beside a step",
    "remote": "A model over the network",
    "data-parallel": "Two ranks beside one",
    "optimizers": "Steps of optimizers",
    "kernels": "Kernels",
    "checkpoints": "Checkpoints of other formats",
    "": "Containers",
}
RECORD = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)-(?:avx512f|avx2|sse2|aarch64|arm64)-(.+)\.(?:md|txt)")
# What ends a note: another argument, or a heading of a docstring.
END = re.compile(r"^(\w+(, \w+)*: |(Args|Returns|Raises|Example|Source|Attributes|Shapes|Cost):)")
COMMENTS = {".py": re.compile(r"^# ?"), ".rs": re.compile(r"^//[/!]? ?")}


def write(folder: Path) -> None:
    """All pages."""
    folder.mkdir(exist_ok=True)
    for name, text in {
        "performance": performance(),
        "differences": differences(),
        "metrics": metrics(),
    }.items():
        (folder / f"{name}.md").write_text(text)


def performance() -> str:
    """The newest record of each suite, one heading lower."""
    newest = {}
    for path in sorted((ROOT / "benches" / "record").iterdir()):
        if found := RECORD.fullmatch(path.name):
            newest[found[3]] = path
    groups: dict[str, list[str]] = {title: [] for title in [*SUITES.values(), "More"]}
    for name, path in sorted(newest.items()):
        groups[_title(name)].append(_lowered(path))
    shown = [f"## {title}\n\n" + "\n\n".join(found) for title, found in groups.items() if found]
    return "\n\n".join(shown) + "\n"


def _title(name: str) -> str:
    if re.fullmatch(r"[A-Z](-memory)?|convert", name):
        return SUITES[""]
    return next((title for prefix, title in SUITES.items() if prefix and name.startswith(prefix)), "More")


def _lowered(record: Path) -> str:
    if record.suffix == ".txt":
        return f"### {record.stem}\n\n```text\n{record.read_text().strip()}\n```"
    text = re.sub(r"^(#+) ", r"##\1 ", record.read_text(), flags=re.MULTILINE)
    # All records of a suite have one title.
    return re.sub(r"^### .*", f"### {record.stem}", text, count=1, flags=re.MULTILINE).strip()


def metrics() -> str:
    """A table of the metrics and the first sentence about each."""
    from burnpy.train import metric

    rows = ["| Metric | |", "|---|---|"]
    for name in metric.__all__:
        kind = getattr(metric, name)
        is_metric = isinstance(kind, type) and issubclass(kind, metric.Metric)
        if is_metric and not getattr(kind, "__abstractmethods__", None) and kind.__doc__:
            first = " ".join(kind.__doc__.split("\n\n")[0].split()).replace("|", "\\|")
            rows.append(f"| `{name}` | {first} |")
    return "\n".join(rows) + "\n"


def differences() -> str:
    """All notes that begin "Unlike Burn", by package and place."""
    groups: dict[str, list[str]] = {}
    for path in sources():
        for place, note in notes(path):
            groups.setdefault(_room(path), []).append(f"- **{place}**: {note}")
    return "\n\n".join(f"### {room}\n\n" + "\n".join(found) for room, found in groups.items()) + "\n"


def sources() -> list[Path]:
    """Where notes are looked for."""
    python, rust = ROOT / "python" / "burnpy", ROOT / "rust"
    return sorted(python.rglob("*.py")) + sorted(rust.glob("*/src/**/*.rs"))


def notes(path: Path) -> Iterator[tuple[str, str]]:
    """The place and the text of each note in a file."""
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        at = line.find("Unlike Burn")
        if at >= 0:
            yield _place(path, lines, number), _text(path.suffix, lines, number, at)


def _text(suffix: str, lines: list[str], number: int, at: int) -> str:
    comment = COMMENTS[suffix]
    is_comment = comment.match(lines[number].strip()) is not None
    parts = [_before(lines[number][:at]) + lines[number][at:]]
    for line in lines[number + 1 :]:
        if '"""' in parts[-1] or (is_comment and not comment.match(line.strip())):
            break
        plain = comment.sub("", line.strip()) if is_comment else line.strip()
        if not plain or END.match(plain):
            break
        parts.append(plain)
    text = " ".join(parts).split('"""')[0].strip()
    if lines[number][:at].endswith("("):
        text = text.split(")")[0] + "."
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")
    text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
    text = re.sub(r"^Unlike Burn: (which|whose|where)\b", r"Unlike Burn, \1", text).removeprefix(
        "Unlike Burn: "
    )
    return text[0].upper() + text[1:]


def _before(line: str) -> str:
    """The sentence that a note on the same line goes on from, if it begins there."""
    text = line.strip().removeprefix('"""')
    return text + " " if text.endswith(".") and text[0].isupper() and not text.startswith("Source:") else ""


def _place(path: Path, lines: list[str], number: int) -> str:
    """The innermost class or function around, or below, a line."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    pattern = re.compile(r"^( *)(?:pub(?:\(\w+\))? )?(?:class|def|fn|struct|enum) (\w+)")
    if path.suffix == ".rs":
        below = next((found[2] for line in lines[number:] if (found := pattern.match(line))), "")
        return f"`{path.stem}`" if lines[number].lstrip().startswith("//!") or not below else f"`{below}`"
    names: list[str] = []
    for line in reversed(lines[:number]):
        if (found := pattern.match(line)) and len(found[1]) < indent:
            indent = len(found[1])
            names.insert(0, found[2])
    names = [name for name in names if name != "__init__"]
    return f"`{'.'.join(names) or path.stem}`"


def _room(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "rust":
        return f"`{parts[1]}` (the core)"
    return f"`burnpy.{parts[2].removesuffix('.py')}`"
