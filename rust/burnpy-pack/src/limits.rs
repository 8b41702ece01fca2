//! Bounds that a file must keep, so that a hostile one costs no more than it may.

/// What a reader accepts and a writer refuses to exceed. The default is what Burn allows.
///
/// ```
/// let limits = burnpy_pack::Limits { max_tensors: 10, ..Default::default() };
/// assert_eq!(limits.max_metadata_bytes, 100 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Length of the metadata: 100 MiB.
    pub max_metadata_bytes: u64,
    /// Number of tensors: 100 000.
    pub max_tensors: u64,
    /// Length of one payload: 10 GiB, on 32-bit machines 2 GiB.
    pub max_tensor_bytes: u64,
    /// Levels of maps, arrays and tags in the metadata: 128.
    pub max_depth: u32,
    /// Length of a file: 100 GiB. Bytes in memory have no such limit.
    pub max_file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let max_tensor_bytes = if cfg!(target_pointer_width = "64") { 10 << 30 } else { 2 << 30 };
        Self {
            max_metadata_bytes: 100 << 20,
            max_tensors: 100_000,
            max_tensor_bytes,
            max_depth: 128,
            max_file_bytes: 100 << 30,
        }
    }
}
