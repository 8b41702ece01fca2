//! `burnpy._core.Regex`: the regular expressions of filters and remaps, in time linear in the text.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A regular expression in the syntax of Rust's crate `regex`: Unicode, no look-around, no back-references.
///
/// Args:
///     pattern: found anywhere in a text unless it is anchored with ``^`` and ``$``.
///
/// Raises:
///     ValueError: the pattern, the character where it goes wrong, counted from 0, and why.
///
/// Example:
///     >>> Regex(r"^fc(\d)\.").replace_all("fc1.weight", "layers.$1.")
///     'layers.1.weight'
#[pyclass(frozen, eq, hash, name = "Regex", module = "burnpy._core")]
pub(crate) struct PyRegex(regex::Regex);

impl PartialEq for PyRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl std::hash::Hash for PyRegex {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.as_str().hash(state);
    }
}

#[pymethods]
impl PyRegex {
    #[new]
    fn new(py: Python<'_>, pattern: &str) -> PyResult<Self> {
        // Without the GIL: a pattern of large counted repetitions takes a while to be refused.
        let compiled = py.detach(|| regex::Regex::new(pattern));
        compiled.map(Self).map_err(|error| PyValueError::new_err(explain(pattern, &error)))
    }

    /// The text that it was made of.
    #[getter]
    fn pattern(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it is found somewhere in the text.
    #[pyo3(signature = (text, /))]
    fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The text with every match replaced. ``$1``, ``$name``, ``${1}`` and ``${name}`` stand for what a group found,
    /// for nothing where there is no such group; ``$$`` is a dollar.
    #[pyo3(signature = (text, replacement, /))]
    fn replace_all(&self, text: &str, replacement: &str) -> String {
        self.0.replace_all(text, replacement).into_owned()
    }

    fn __getnewargs__(&self) -> (&str,) {
        (self.pattern(),)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Regex({})", self.pattern().into_pyobject(py)?.repr()?))
    }
}

/// Names after a chain of replacements, each working on what the one before it left.
///
/// Example:
///     >>> replace_names(["a.w", "b.w"], [(Regex("a"), "b"), (Regex(r"^b\."), "c.")])
///     ['c.w', 'c.w']
#[pyfunction]
#[pyo3(signature = (names, rules, /))]
pub(crate) fn replace_names(
    py: Python<'_>,
    names: Vec<String>,
    rules: Vec<(Py<PyRegex>, String)>,
) -> Vec<String> {
    let rules: Vec<_> = rules.iter().map(|(regex, to)| (&regex.get().0, to.as_str())).collect();
    py.detach(|| names.into_iter().map(|name| replace(name, &rules)).collect())
}

fn replace(name: String, rules: &[(&regex::Regex, &str)]) -> String {
    rules.iter().fold(name, |current, (regex, to)| match regex.replace_all(&current, *to) {
        Cow::Borrowed(_) => current,
        Cow::Owned(changed) => changed,
    })
}

/// What is wrong with a pattern, and where.
fn explain(pattern: &str, error: &regex::Error) -> String {
    let (at, why) = match regex_syntax::parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => (error.span().start.offset, error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => (error.span().start.offset, error.kind().to_string()),
        // It can be read, but the machine that it describes is too large.
        _ => return format!("regex {pattern:?} cannot be used: {}", first_line(&error.to_string())),
    };
    let character = pattern.char_indices().take_while(|&(offset, _)| offset < at).count();
    format!("regex {pattern:?} is wrong at character {character}: {}", first_line(&why))
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.to_lowercase().trim_end_matches('.').to_owned()
}
