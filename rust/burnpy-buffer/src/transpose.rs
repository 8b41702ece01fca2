//! Rows of a matrix as columns of another.

/// Side of a tile, in elements: 64 by 64 floats of 4 bytes are 16 KiB, half of a first-level cache.
const TILE: usize = 64;

/// Copies rows of a matrix to where they are columns: element `r`, `c` of `source` becomes element `c`, `at + r` of
/// `out`, whose rows have `out_cols` elements. A matrix may come in several pieces, so that it need not be in memory as
/// a whole.
///
/// ```
/// let mut out = [0; 6];
/// burnpy_buffer::transpose_rows(&[1, 2, 3], 3, 1, &mut out, 2, 0);
/// burnpy_buffer::transpose_rows(&[4, 5, 6], 3, 1, &mut out, 2, 1);
/// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
/// ```
///
/// # Panics
/// When `source` is no whole number of rows of `cols` elements, `out` no `cols` rows, the rows do not fit behind `at`,
/// or elements have other than 1, 2, 4, 8 or 16 bytes.
pub fn transpose_rows(
    source: &[u8],
    cols: usize,
    element: usize,
    out: &mut [u8],
    out_cols: usize,
    at: usize,
) {
    let row_len = cols * element;
    let rows = source.len().checked_div(row_len).unwrap_or(0);
    assert_eq!(rows * row_len, source.len(), "a whole number of rows");
    assert_eq!(out.len(), row_len * out_cols, "as many rows as there were columns");
    assert!(at + rows <= out_cols, "{rows} columns behind {at} of {out_cols}");
    match element {
        1 => tiles::<1>(source, rows, cols, out, out_cols, at),
        2 => tiles::<2>(source, rows, cols, out, out_cols, at),
        4 => tiles::<4>(source, rows, cols, out, out_cols, at),
        8 => tiles::<8>(source, rows, cols, out, out_cols, at),
        16 => tiles::<16>(source, rows, cols, out, out_cols, at),
        _ => panic!("elements of {element} bytes"),
    }
}

/// Tile by tile, through a buffer: in the order of either matrix, the other one would use one element of every cache
/// line; and where a row has a power of two of bytes, the lines of a column push each other out of the cache.
fn tiles<const N: usize>(
    source: &[u8],
    rows: usize,
    cols: usize,
    out: &mut [u8],
    out_cols: usize,
    at: usize,
) {
    let (source, _) = source.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    let mut tile = [[[0; N]; TILE]; TILE];
    for first_row in (0..rows).step_by(TILE) {
        let height = TILE.min(rows - first_row);
        for first_col in (0..cols).step_by(TILE) {
            let width = TILE.min(cols - first_col);
            for run in 0..height {
                let start = (first_row + run) * cols + first_col;
                for (column, &element) in tile.iter_mut().zip(&source[start..start + width]) {
                    column[run] = element;
                }
            }
            for (column, col) in tile.iter().take(width).zip(first_col..) {
                let start = col * out_cols + at + first_row;
                out[start..start + height].copy_from_slice(&column[..height]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element by element, every byte of it.
    fn expected(source: &[u8], rows: usize, cols: usize, element: usize) -> Vec<u8> {
        let mut out = vec![0; source.len()];
        for row in 0..rows {
            for col in 0..cols {
                let (from, to) = ((row * cols + col) * element, (col * rows + row) * element);
                out[to..to + element].copy_from_slice(&source[from..from + element]);
            }
        }
        out
    }

    #[test]
    fn a_matrix_in_pieces_is_transposed_as_a_whole() {
        for element in [1, 2, 4, 8, 16] {
            for (rows, cols) in [(0, 3), (3, 0), (1, 1), (1, 200), (200, 1), (63, 65), (130, 67)] {
                let len = rows * cols * element;
                let source: Vec<u8> = (0..len).map(|i| (i * 31 % 251) as u8).collect();
                let mut out = vec![0; len];
                for (piece, first) in (0..rows).step_by(50).enumerate() {
                    let (start, end) = (first * cols * element, rows.min(first + 50) * cols * element);
                    transpose_rows(&source[start..end], cols, element, &mut out, rows, piece * 50);
                }
                assert_eq!(out, expected(&source, rows, cols, element), "{rows} by {cols} of {element}");
            }
        }
    }
}
