//! Strided elements into a contiguous copy.

/// Side of a tile, in elements: 64 by 64 floats of 4 bytes are 16 KiB, half of a first-level cache.
const TILE: usize = 64;

/// An axis: how many elements, and how far apart in source and copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    len: usize,
    from: usize,
    to: usize,
}

/// Copies the elements of a strided view, the first of which is at the start of `source`, into `out`, in
/// row-major order. `source` must hold every element of the view, and `out` exactly them.
pub(crate) fn gather(source: &[u8], shape: &[usize], strides: &[usize], element: usize, out: &mut [u8]) {
    let axes = axes(shape, strides);
    match element {
        1 => copy::<1>(source, &axes, out),
        2 => copy::<2>(source, &axes, out),
        4 => copy::<4>(source, &axes, out),
        8 => copy::<8>(source, &axes, out),
        _ => copy::<16>(source, &axes, out),
    }
}

/// The axes, without those of one element, neighbours joined where they lie one after another.
fn axes(shape: &[usize], strides: &[usize]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    let mut to = 1;
    for (&len, &from) in shape.iter().zip(strides).rev() {
        if len == 1 {
            continue;
        }
        match axes.last_mut() {
            Some(inner) if from == inner.from.wrapping_mul(inner.len) => inner.len *= len,
            _ => axes.push(Axis { len, from, to }),
        }
        to *= len;
    }
    axes.reverse();
    axes
}

fn copy<const N: usize>(source: &[u8], axes: &[Axis], out: &mut [u8]) {
    let Some((&inner, outer)) = axes.split_last() else {
        out.copy_from_slice(&source[..out.len()]);
        return;
    };
    // A transposed matrix has its dense axis outside: read in the order of the copy, it would use 4 bytes of
    // every cache line and meet each line again when it is gone.
    let dense = outer.iter().position(|axis| axis.from < inner.from && axis.from > 0);
    match dense {
        Some(at) => {
            let rest: Vec<Axis> =
                outer.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, axis)| *axis).collect();
            each(&rest, |from, to| tiles::<N>(&source[from * N..], outer[at], inner, &mut out[to * N..]));
        }
        None => each(outer, |from, to| run::<N>(&source[from * N..], inner, &mut out[to * N..])),
    }
}

/// Calls `f` with the places in source and copy of every combination of indices.
fn each(axes: &[Axis], mut f: impl FnMut(usize, usize)) {
    let mut indices = vec![0; axes.len()];
    loop {
        let place = |step: fn(&Axis) -> usize| indices.iter().zip(axes).map(|(i, axis)| i * step(axis)).sum();
        f(place(|axis| axis.from), place(|axis| axis.to));
        let Some(at) = indices.iter().zip(axes).rposition(|(i, axis)| i + 1 < axis.len) else { return };
        indices[at] += 1;
        indices[at + 1..].fill(0);
    }
}

/// One axis that is dense in the copy.
fn run<const N: usize>(source: &[u8], axis: Axis, out: &mut [u8]) {
    let out = &mut out[..axis.len * N];
    if axis.from == 1 {
        out.copy_from_slice(&source[..axis.len * N]);
        return;
    }
    for (i, target) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let from = i * axis.from * N;
        target.copy_from_slice(&source[from..from + N]);
    }
}

/// Two axes, the outer one denser in the source, the inner one dense in the copy. Each tile goes through a
/// buffer, so that source and copy are both touched in runs: rows that are a power of two apart share their
/// place in the cache.
fn tiles<const N: usize>(source: &[u8], outer: Axis, inner: Axis, out: &mut [u8]) {
    let mut tile = [[0; N]; TILE * TILE];
    for row in (0..outer.len).step_by(TILE) {
        let rows = TILE.min(outer.len - row);
        for column in (0..inner.len).step_by(TILE) {
            let columns = TILE.min(inner.len - column);
            for j in 0..columns {
                let start = row * outer.from + (column + j) * inner.from;
                let end = start + (rows - 1) * outer.from + 1;
                let line = source[start * N..end * N].as_chunks::<N>().0;
                let column = tile[j..].iter_mut().step_by(TILE);
                match outer.from {
                    1 => column.zip(line).for_each(|(target, element)| *target = *element),
                    step => {
                        column.zip(line.iter().step_by(step)).for_each(|(target, element)| *target = *element)
                    }
                }
            }
            for (i, line) in tile.chunks_exact(TILE).take(rows).enumerate() {
                let to = ((row + i) * outer.to + column) * N;
                out[to..to + columns * N].copy_from_slice(line[..columns].as_flattened());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One element after another, as the definition of strides has it.
    fn reference(source: &[u8], shape: &[usize], strides: &[usize], element: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let count: usize = shape.iter().product();
        for flat in 0..count {
            let mut rest = flat;
            let mut from = 0;
            for (len, stride) in shape.iter().zip(strides).rev() {
                from += rest % len * stride;
                rest /= len;
            }
            out.extend_from_slice(&source[from * element..(from + 1) * element]);
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_copy_holds_every_element_in_order(
            axes in prop::collection::vec((1usize..80, 0usize..90), 0..4),
            element in prop::sample::select(vec![1usize, 2, 4, 8, 16]),
        ) {
            let (shape, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            let last: usize = shape.iter().zip(&strides).map(|(len, stride)| (len - 1) * stride).sum();
            let source: Vec<u8> = (0..(last + 1) * element).map(|i| (i % 251) as u8).collect();
            let mut out = vec![0; shape.iter().product::<usize>() * element];
            gather(&source, &shape, &strides, element, &mut out);
            prop_assert_eq!(out, reference(&source, &shape, &strides, element));
        }
    }
}
