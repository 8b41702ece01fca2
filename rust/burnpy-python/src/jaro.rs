//! Which of many names was probably meant.

use pyo3::prelude::*;

/// From this similarity on, one name is suggested for another.
const LEAST: f64 = 0.7;

/// Jaro similarity from 0 to 1, counted on characters as Burn's reports do.
///
/// Not quite the textbook's: a transposition is a match that lies before the match of the letter before it.
///
/// Example:
///     >>> round(jaro("dixon", "dicksonx"), 5), jaro("", ""), jaro("a", "")
///     (0.76667, 1.0, 0.0)
#[pyfunction]
#[pyo3(signature = (text, other, /))]
pub(crate) fn jaro(text: &str, other: &str) -> f64 {
    let (text, other): (Vec<_>, Vec<_>) = (text.chars().collect(), other.chars().collect());
    similarity(&text, &other)
}

/// The candidate that is most like a name, the first of equals; ``None`` if none is like it.
///
/// Example:
///     >>> closest("fc.1.weight", ["conv.bias", "fc.2.weight"])
///     'fc.2.weight'
#[pyfunction]
#[pyo3(signature = (name, candidates, /))]
pub(crate) fn closest(py: Python<'_>, name: &str, candidates: Vec<String>) -> Option<String> {
    py.detach(|| nearest(name, candidates))
}

fn nearest(name: &str, candidates: Vec<String>) -> Option<String> {
    let name: Vec<_> = name.chars().collect();
    let mut best = (0.0, None);
    for candidate in candidates {
        let found = similarity(&name, &candidate.chars().collect::<Vec<_>>());
        if found > best.0 {
            best = (found, Some(candidate));
        }
    }
    best.1.filter(|_| best.0 >= LEAST)
}

fn similarity(text: &[char], other: &[char]) -> f64 {
    if text.is_empty() || other.is_empty() || text.len() == 1 && other.len() == 1 {
        return f64::from(u8::from(text == other));
    }
    let (matches, transpositions) = matches(text, other);
    if matches == 0 {
        return 0.0;
    }
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    (share(matches, text.len()) + share(matches, other.len()) + share(matches - transpositions, matches))
        / 3.0
}

/// How many letters have a free equal one near their place in the other text, and how many of these lie before the
/// match of the letter before.
fn matches(text: &[char], other: &[char]) -> (usize, usize) {
    let window = text.len().max(other.len()) / 2 - 1;
    let mut taken = vec![false; other.len()];
    let (mut matches, mut transpositions, mut last) = (0, 0, 0);
    for (place, letter) in text.iter().enumerate() {
        let mut near = place.saturating_sub(window)..(place + window + 1).min(other.len());
        if let Some(found) = near.find(|&at| !taken[at] && other[at] == *letter) {
            taken[found] = true;
            matches += 1;
            transpositions += usize::from(found < last);
            last = found;
        }
    }
    (matches, transpositions)
}
