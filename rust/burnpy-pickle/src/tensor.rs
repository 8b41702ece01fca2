//! What a pickle says about a tensor, and whether that can be true.

use crate::dtype::DType;
use crate::error::ErrorKind;
use crate::storage::{Element, StorageId, StorageRef};

/// How a tensor came into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TensorKind {
    /// A tensor.
    Plain,
    /// An `nn.Parameter`.
    Parameter,
    /// The data of a subclass, by its qualified name; the class is never imported.
    Subclass(Box<str>),
    /// A NumPy array.
    Numpy,
}

/// A tensor as the pickle describes it: a strided view of a storage.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorValue {
    /// The storage.
    pub storage: StorageId,
    /// Its element type.
    pub dtype: DType,
    /// Its sizes.
    pub shape: Box<[u64]>,
    /// Its strides, in elements.
    pub strides: Box<[u64]>,
    /// Its first element, in elements from the start of the storage.
    pub offset: u64,
    /// Bytes of the storage that the tensor may reach into, as declared.
    pub(crate) declared_bytes: u64,
    /// Whether it wants gradients.
    pub requires_grad: bool,
    /// How it came into the file.
    pub kind: TensorKind,
    /// Why it cannot be read, whatever the storage holds. The other fields are then what could be made out.
    pub problem: Option<Box<ErrorKind>>,
}

/// Sizes, strides and offset before anybody checked them.
pub(crate) struct Claim<'a> {
    pub(crate) dtype: DType,
    pub(crate) offset: i64,
    pub(crate) sizes: &'a [i64],
    pub(crate) strides: &'a [i64],
}

impl TensorValue {
    /// A tensor as claimed, with the problem that the claim has.
    pub(crate) fn new(storage: &StorageRef, claim: &Claim<'_>) -> Self {
        let view = storage.view.unwrap_or((0, storage.declared));
        let limit = view.0.saturating_add(view.1).min(storage.declared);
        Self {
            storage: storage.storage,
            dtype: claim.dtype,
            shape: claim.sizes.iter().map(|size| clip(*size)).collect(),
            strides: claim.strides.iter().map(|stride| clip(*stride)).collect(),
            offset: clip(claim.offset).saturating_add(clip(view.0)),
            declared_bytes: clip(limit).saturating_mul(storage.element.size().unwrap_or(1)),
            requires_grad: false,
            kind: TensorKind::Plain,
            problem: claim.problem(storage).map(Box::new),
        }
    }

    /// A tensor of which no more is known than why it cannot be read.
    pub(crate) fn broken(storage: Option<&StorageRef>, problem: ErrorKind) -> Self {
        let dtype = match storage.map(|storage| &storage.element) {
            Some(Element::Typed(dtype)) => *dtype,
            _ => DType::U8,
        };
        Self {
            storage: storage.map_or(StorageId(u32::MAX), |storage| storage.storage),
            dtype,
            shape: Box::default(),
            strides: Box::default(),
            offset: 0,
            declared_bytes: 0,
            requires_grad: false,
            kind: TensorKind::Plain,
            problem: Some(Box::new(problem)),
        }
    }

    /// Whether another tensor is the same view of the same storage.
    pub fn is_tied_to(&self, other: &Self) -> bool {
        self.storage == other.storage
            && self.dtype == other.dtype
            && self.offset == other.offset
            && self.shape == other.shape
            && self.strides == other.strides
    }

    /// Elements.
    pub(crate) fn num_elements(&self) -> Result<u64, ErrorKind> {
        if self.shape.contains(&0) {
            return Ok(0);
        }
        let product = self.shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
        product.ok_or(ErrorKind::OverLimit {
            what: "the number of elements",
            found: u64::MAX,
            limit: i64::MAX as u64, // what PyTorch can count
        })
    }

    /// The byte after the last one that the tensor reaches, from the start of the storage; `None` if the
    /// number is beyond all bounds, 0 if there are no elements.
    pub(crate) fn end(&self) -> Option<u64> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let mut last = self.offset;
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            last = last.checked_add((size - 1).checked_mul(*stride)?)?;
        }
        last.checked_add(1)?.checked_mul(self.dtype.size() as u64)
    }
}

impl Claim<'_> {
    fn problem(&self, storage: &StorageRef) -> Option<ErrorKind> {
        if storage.declared < 0 {
            return Some(ErrorKind::tensor(format!("its storage has {} elements", storage.declared)));
        }
        if let Some((offset, len)) = storage.view
            && (offset < 0 || len < 0)
        {
            return Some(ErrorKind::tensor(format!(
                "its part of the storage begins at {offset} and has {len}"
            )));
        }
        if self.sizes.len() != self.strides.len() {
            let (sizes, strides) = (self.sizes.len(), self.strides.len());
            return Some(ErrorKind::tensor(format!("it has {sizes} sizes and {strides} strides")));
        }
        if self.offset < 0 {
            return Some(ErrorKind::tensor(format!("its offset is {}", self.offset)));
        }
        if let Some(size) = self.sizes.iter().find(|size| **size < 0) {
            return Some(ErrorKind::tensor(format!("one of its sizes is {size}")));
        }
        let stride = self.strides.iter().find(|stride| **stride < 0)?;
        Some(ErrorKind::tensor(format!("one of its strides is {stride}")))
    }
}

fn clip(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(declared: i64) -> StorageRef {
        StorageRef { storage: StorageId(0), element: Element::Typed(DType::F32), declared, view: None }
    }

    fn tensor(sizes: &[i64], strides: &[i64], offset: i64) -> TensorValue {
        TensorValue::new(&storage(100), &Claim { dtype: DType::F32, offset, sizes, strides })
    }

    #[test]
    fn the_end_counts_only_what_is_reached() {
        assert_eq!(tensor(&[3, 2], &[2, 1], 0).end(), Some(24));
        assert_eq!(tensor(&[3, 2], &[0, 1], 5).end(), Some(28));
        assert_eq!(tensor(&[], &[], 7).end(), Some(32));
        assert_eq!(tensor(&[0, 9], &[i64::MAX, 1], 7).end(), Some(0));
        assert_eq!(tensor(&[3, 2], &[i64::MAX, 1], 0).end(), None);
    }

    #[test]
    fn impossible_claims_are_problems() {
        assert_eq!(tensor(&[3], &[1], 0).problem, None);
        for broken in
            [tensor(&[-1], &[1], 0), tensor(&[1], &[-1], 0), tensor(&[1], &[1], -1), tensor(&[1], &[], 0)]
        {
            assert_eq!(broken.problem.unwrap().name(), "invalid tensor");
        }
        let negative =
            TensorValue::new(&storage(-4), &Claim { dtype: DType::F32, offset: 0, sizes: &[], strides: &[] });
        assert_eq!(negative.problem.unwrap().name(), "invalid tensor");
    }

    #[test]
    fn a_product_that_overflows_is_over_the_limit() {
        assert_eq!(
            tensor(&[1 << 31, 1 << 31, 4], &[0, 0, 1], 0).num_elements().unwrap_err().name(),
            "over limit"
        );
        assert_eq!(tensor(&[1 << 31, 1 << 31, 4, 0], &[0; 4], 0).num_elements(), Ok(0));
    }
}
