//! Grids for [`Tensor::grid_sample_2d`].

use super::half::via_f32;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// The positions that affine maps `[batch, 2, 3]` take those of `size` `[batch, channels, height, width]` to:
    /// `[batch, height, width, 2]`. The positions go from −1 to 1: with `align_corners` between the centres of the
    /// first and the last pixel, else between the edges.
    ///
    /// # Errors
    /// `Shape` if the shapes do not fit, `DType` if the tensor does not hold floats.
    pub fn affine_grid_2d(&self, size: [usize; 4], align_corners: bool) -> Result<Self> {
        const OPERATION: &str = "affine_grid_2d";
        let [batch, _, height, width] = size;
        if self.shape() != [batch, 2, 3] {
            let found = self.shape();
            return Err(Error::shape(
                OPERATION,
                format_args!("expected maps of shape [{batch}, 2, 3], got {found:?}"),
            ));
        }
        via_f32([self], |[theta]| {
            let dtype = theta.dtype();
            let maps = theta.value().contiguous();
            let value = dispatch_float!(dtype, T => {
                let maps = maps.as_slice::<T>().expect("contiguous");
                Value::build_as(dtype, &[batch, height, width, 2], |out: &mut [T]| {
                    for (i, out) in out.chunks_exact_mut(2).enumerate() {
                        let place = place::<T>(i, height, width, align_corners);
                        let map = &maps[i / (height * width) * 6..][..6];
                        for (out, row) in out.iter_mut().zip(map.chunks_exact(3)) {
                            *out = row[0] * place[0] + row[1] * place[1] + row[2];
                        }
                    }
                })
            }, else => Err(super::conv::no_floats(OPERATION, dtype)))?;
            // d map = Σ dy · (x, y, 1) over the positions.
            Ok(record(OPERATION, [theta], value, |_| {
                move |gradient: Value| {
                    let gradient = gradient.contiguous();
                    let sum = dispatch_float!(dtype, T => {
                        let gradient = gradient.as_slice::<T>().expect("contiguous");
                        Value::build_as(dtype, &[batch, 2, 3], |out: &mut [T]| {
                            out.fill(0.0);
                            for (i, gradient) in gradient.chunks_exact(2).enumerate() {
                                let place = place::<T>(i, height, width, align_corners);
                                let out = &mut out[i / (height * width) * 6..][..6];
                                for (row, &gradient) in out.chunks_exact_mut(3).zip(gradient) {
                                    row.iter_mut().zip(place).for_each(|(sum, at)| *sum += gradient * at);
                                }
                            }
                        })
                    }, else => Err(super::conv::no_floats(OPERATION, dtype)))?;
                    Ok([Some(sum)])
                }
            }))
        })
    }
}

/// `(x, y, 1)` of a pixel.
fn place<T: Element>(i: usize, height: usize, width: usize, align_corners: bool) -> [T; 3] {
    let along = |i: usize, size: usize| {
        if !align_corners {
            (2.0 * i as f64 + 1.0) / size as f64 - 1.0
        } else if size > 1 {
            2.0 * i as f64 / (size - 1) as f64 - 1.0
        } else {
            0.0
        }
    };
    [T::from_f64(along(i % width, width)), T::from_f64(along(i / width % height, height)), T::ONE]
}
