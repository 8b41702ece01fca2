//! Leaves: what a checkpoint holds, by full dotted name.

use std::collections::HashMap;

use crate::bigint::BigInt;
use crate::dtype::DType;
use crate::storage::StorageId;
use crate::tensor::TensorValue;
use crate::value::{Blob, NumpyScalar};

/// Everything that a checkpoint holds, in its own order.
#[derive(Debug, Clone, Default)]
pub struct Leaves {
    /// Tensors, parameters and NumPy arrays.
    pub tensors: Vec<TensorLeaf>,
    /// Plain values.
    pub scalars: Vec<ScalarLeaf>,
    /// What was not built, and why.
    pub skipped: Vec<Skipped>,
}

/// A tensor and its name. A tensor that cannot be read is listed too; asking for its data gives the error.
#[derive(Debug, Clone)]
pub struct TensorLeaf {
    /// Dict keys and positions, joined by dots.
    pub name: String,
    /// What the pickle says about it.
    pub tensor: TensorValue,
}

/// A plain value and its name.
#[derive(Debug, Clone)]
pub struct ScalarLeaf {
    /// Dict keys and positions, joined by dots.
    pub name: String,
    /// The value.
    pub value: Scalar,
}

/// A plain value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// Any other integer.
    BigInt(BigInt),
    /// A float.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A string.
    Text(String),
    /// Bytes.
    Bytes(Blob),
    /// A set of plain values, in file order.
    Set(Vec<Scalar>),
    /// A frozenset of plain values, in file order.
    FrozenSet(Vec<Scalar>),
    /// A NumPy scalar.
    Numpy(NumpyScalar),
    /// A `torch.dtype` or a `numpy.dtype`, such as `float32`.
    DType(DType),
    /// A `torch.device`, such as `cuda:0`.
    Device(String),
}

impl Scalar {
    /// Python's name of the type.
    ///
    /// ```
    /// # use burnpy_pickle::Scalar;
    /// assert_eq!(Scalar::None.type_name(), "NoneType");
    /// ```
    pub fn type_name(&self) -> String {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::BigInt(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Text(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::Set(_) => "set",
            Self::FrozenSet(_) => "frozenset",
            Self::Numpy(scalar) => return format!("numpy.{}", scalar.dtype.torch_name()),
            Self::DType(_) => "torch.dtype",
            Self::Device(_) => "torch.device",
        }
        .to_owned()
    }
}

/// Why something was not built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It would take a call.
    Call,
    /// It is a class or function.
    Global,
    /// It is an `nn.Module`: its parameters and buffers are listed, the module itself is not built.
    Module,
    /// It is data of a kind that is not read.
    Unsupported,
}

/// Something that was not built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Dict keys and positions, joined by dots.
    pub name: String,
    /// Its class or function: module and name.
    pub qualified: String,
    /// Why it was not built.
    pub reason: SkipReason,
    /// Its shape, if it is a kind of tensor.
    pub shape: Option<Vec<u64>>,
    /// Its element type in the words of its own library, where that is why.
    pub dtype: Option<String>,
}

impl Leaves {
    /// Groups of tensors, by index, that are the same view of the same storage.
    pub fn ties(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for sharing in self.by_storage() {
            // Sorted, so that equal views are neighbours: a storage may have a million views.
            let mut sorted = sharing;
            let view = |index: &usize| {
                let tensor = &self.tensors[*index].tensor;
                (tensor.dtype.name(), tensor.offset, &tensor.shape, &tensor.strides)
            };
            sorted.sort_by(|a, b| view(a).cmp(&view(b)));
            groups.extend(
                sorted.chunk_by(|a, b| view(a) == view(b)).filter(|tied| tied.len() > 1).map(<[_]>::to_vec),
            );
        }
        groups.sort();
        groups
    }

    /// Groups of tensors, by index, that share a storage and are not all the same view of it.
    pub fn overlaps(&self) -> Vec<Vec<usize>> {
        let same = |group: &Vec<usize>| {
            group.iter().all(|index| self.tensors[*index].tensor.is_tied_to(&self.tensors[group[0]].tensor))
        };
        self.by_storage().into_iter().filter(|group| group.len() > 1 && !same(group)).collect()
    }

    /// Tensors that can be read, by index, grouped by storage in order of first mention.
    fn by_storage(&self) -> Vec<Vec<usize>> {
        let mut place: HashMap<StorageId, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, leaf) in self.tensors.iter().enumerate().filter(|(_, leaf)| leaf.tensor.problem.is_none())
        {
            let at = *place.entry(leaf.tensor.storage).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            groups[at].push(index);
        }
        groups
    }
}
