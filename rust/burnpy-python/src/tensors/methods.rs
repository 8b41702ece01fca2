//! Methods that differ by name alone. Each becomes a method of the Python class with the text above it.

/// `x.name()`, of each element.
macro_rules! unary {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            fn $name(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<Self> {
                $crate::tensors::gate::tensor(py, self.0.num_elements(), || self.0.$name())
            })+
        }
    };
}

/// `x.name(other)` for a tensor, `x.scalar(other)` for a number.
macro_rules! binary {
    ($($(#[doc = $text:literal])+ $name:ident, $scalar:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            #[pyo3(signature = (other, /))]
            fn $name(
                &self,
                py: pyo3::Python<'_>,
                other: $crate::tensors::number::Operand<'_>,
            ) -> pyo3::PyResult<Self> {
                use burnpy_tensor::Tensor;
                $crate::tensors::number::binary(py, &self.0, other, Tensor::$name, Tensor::$scalar)
            })+
        }
    };
}

/// `x.name(other)` for tensors alone.
macro_rules! pairs {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            #[pyo3(signature = (other, /))]
            fn $name(&self, py: pyo3::Python<'_>, other: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<Self> {
                let (x, y) = (&self.0, &other.get().0);
                $crate::tensors::gate::tensor(py, $crate::tensors::gate::work(x, y), || x.$name(y))
            })+
        }
    };
}

/// `x.name(number)`, of each element.
macro_rules! with_number {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            #[pyo3(signature = (number, /))]
            fn $name(
                &self,
                py: pyo3::Python<'_>,
                number: $crate::tensors::number::Number,
            ) -> pyo3::PyResult<Self> {
                $crate::tensors::gate::tensor(py, self.0.num_elements(), || self.0.$name(number.0))
            })+
        }
    };
}

/// `x.name(dim)`, along an axis.
macro_rules! along {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            fn $name(&self, py: pyo3::Python<'_>, dim: isize) -> pyo3::PyResult<Self> {
                $crate::tensors::gate::tensor(py, self.0.num_elements(), || self.0.$name(dim))
            })+
        }
    };
}

/// `x.name(dim)`, two tensors.
macro_rules! along_pair {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            fn $name(&self, py: pyo3::Python<'_>, dim: isize) -> pyo3::PyResult<(Self, Self)> {
                let (a, b) = $crate::tensors::gate::run(py, self.0.num_elements(), || self.0.$name(dim))?;
                Ok((Self(a), Self(b)))
            })+
        }
    };
}

/// `x.name(dims)`, along several axes.
macro_rules! along_all {
    ($($(#[doc = $text:literal])+ $name:ident;)+) => {
        #[pyo3::pymethods]
        impl $crate::tensors::PyTensor {
            $($(#[doc = $text])+
            fn $name(
                &self,
                py: pyo3::Python<'_>,
                dims: $crate::tensors::argument::Ints,
            ) -> pyo3::PyResult<Self> {
                $crate::tensors::gate::tensor(py, self.0.num_elements(), || self.0.$name(&dims))
            })+
        }
    };
}

pub(crate) use {along, along_all, along_pair, binary, pairs, unary, with_number};
