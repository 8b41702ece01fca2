//! The parameters of a module, found without a crossing for each.

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyNone, PyString, PyTuple, PyType};

/// The parameters of a module, depth first in the order of declaration; a tied one comes as often as it is reached.
///
/// The order is that of ``Module.named_params``, without running states and flags. It is looked up at every call, so that
/// it is right whatever was assigned since.
#[pyfunction]
#[pyo3(signature = (root, param_type, /))]
pub(crate) fn parameters<'py>(
    root: &Bound<'py, PyAny>,
    param_type: &Bound<'py, PyType>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut walk = Walk { param_type, kinds: Vec::new(), found: Vec::new(), depth: 0 };
    walk.visit(root)?;
    Ok(walk.found)
}

struct Walk<'a, 'py> {
    param_type: &'a Bound<'py, PyType>,
    /// The types met so far. Few, so a list is as fast as a map.
    kinds: Vec<(Bound<'py, PyType>, Kind<'py>)>,
    found: Vec<Bound<'py, PyAny>>,
    depth: usize,
}

/// Modules in modules, and so on: deeper than any real one, and far from the end of a stack of 2 MB.
const MAX_DEPTH: usize = 500;

#[derive(Clone)]
enum Kind<'py> {
    Parameter,
    Sequence,
    Dictionary,
    /// With the names of attributes that are no part of it, if it has any.
    Module(Option<Bound<'py, PyFrozenSet>>),
    Other,
}

impl<'py> Walk<'_, 'py> {
    fn visit(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if is_plain(value) {
            return Ok(());
        }
        if self.depth == MAX_DEPTH {
            return Err(PyRecursionError::new_err(format!(
                "modules are nested more than {MAX_DEPTH} deep: does one hold itself?"
            )));
        }
        self.depth += 1;
        self.descend(value)?;
        self.depth -= 1;
        Ok(())
    }

    fn descend(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match self.kind(value)? {
            Kind::Parameter => {
                self.found.push(value.clone());
                self.visit(&value.getattr(intern!(value.py(), "reparam"))?)
            }
            Kind::Sequence => value.try_iter()?.try_for_each(|item| self.visit(&item?)),
            Kind::Dictionary => {
                value.cast::<PyDict>()?.values().iter().try_for_each(|item| self.visit(&item))
            }
            Kind::Module(skipped) => {
                let attributes = value.getattr(intern!(value.py(), "__dict__"))?;
                for (name, item) in attributes.cast::<PyDict>()?.iter() {
                    let part = match &skipped {
                        Some(skipped) => !skipped.contains(&name)?,
                        None => true,
                    };
                    if part {
                        self.visit(&item)?;
                    }
                }
                Ok(())
            }
            Kind::Other => Ok(()),
        }
    }

    fn kind(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Kind<'py>> {
        let of = value.get_type();
        if let Some((_, kind)) = self.kinds.iter().find(|(known, _)| known.is(&of)) {
            return Ok(kind.clone());
        }
        let kind = self.look_up(&of)?;
        self.kinds.push((of, kind.clone()));
        Ok(kind)
    }

    fn look_up(&self, of: &Bound<'py, PyType>) -> PyResult<Kind<'py>> {
        let py = of.py();
        if of.is_subclass(self.param_type)? {
            return Ok(Kind::Parameter);
        }
        if of.is_subclass(&py.get_type::<PyList>())? || of.is_subclass(&py.get_type::<PyTuple>())? {
            return Ok(Kind::Sequence);
        }
        if of.is_subclass(&py.get_type::<PyDict>())? {
            return Ok(Kind::Dictionary);
        }
        if !of.hasattr(intern!(py, "_burnpy_module"))? {
            return Ok(Kind::Other);
        }
        let skipped = of.getattr(intern!(py, "_skipped"))?.cast_into::<PyFrozenSet>()?;
        Ok(Kind::Module((!skipped.is_empty()).then_some(skipped)))
    }
}

/// What most attributes are, told by one comparison each.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyNone>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
}
