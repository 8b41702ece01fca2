//! The largest and the mean of windows.

use burnpy_tensor::ops::{AvgPoolOptions, INT, MaxPoolOptions};
use burnpy_tensor::{Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, each_index, exactly, nearly};
use crate::cases::{Case, FLOATS, case_of, config};

#[derive(Debug, Clone)]
struct Pool<const N: usize> {
    x: Case,
    kernel: [usize; N],
    stride: [usize; N],
    pads: [(usize, usize); N],
    dilation: [usize; N],
    ceil: bool,
    with_pads: bool,
}

fn pool<const N: usize>() -> impl Strategy<Value = Pool<N>> {
    let each = |range: std::ops::Range<usize>| prop::array::UniformArrayStrategy::<_, [usize; N]>::new(range);
    let size = if N == 1 {
        0usize..40
    } else if N == 2 {
        0..12
    } else {
        0..6
    };
    let axes = (
        prop::array::UniformArrayStrategy::<_, [usize; N]>::new(size),
        each(1..4),
        each(1..4),
        each(0..3),
        each(0..3),
        each(1..3),
    );
    ((0usize..3, 0usize..5), axes, select(&FLOATS[..]), any::<(bool, bool)>()).prop_flat_map(
        |((batch, channels), (sizes, kernel, stride, before, after, dilation), dtype, (ceil, with_pads))| {
            let pads = std::array::from_fn(|i| (before[i], after[i]));
            case_of([&[batch, channels], &sizes[..]].concat(), dtype).prop_map(move |x| Pool {
                x,
                kernel,
                stride,
                pads,
                dilation,
                ceil,
                with_pads,
            })
        },
    )
}

impl<const N: usize> Pool<N> {
    /// How many windows there are along each axis; `None` if one is longer than a padded axis.
    fn places(&self, dilation: [usize; N]) -> Option<Vec<usize>> {
        (0..N)
            .map(|i| {
                let (size, (before, after), stride) = (self.x.shape[i + 2], self.pads[i], self.stride[i]);
                let room = (size + before + after).checked_sub(dilation[i] * (self.kernel[i] - 1) + 1)?;
                let count = if self.ceil { room.div_ceil(stride) } else { room / stride } + 1;
                // In ceil mode a last window that begins behind the input is left out.
                Some(if self.ceil && count > 1 && (count - 1) * stride >= size + before {
                    count - 1
                } else {
                    count
                })
            })
            .collect()
    }

    /// The elements of the windows with their places in the input's plane, and how many places of the padded input they
    /// are.
    fn windows<M: Copy>(
        &self,
        a: &Array<f64>,
        dilation: [usize; N],
        mut f: impl FnMut(&[(usize, f64)], usize) -> M,
    ) -> Option<Array<M>> {
        let (sizes, places) = (&a.shape[2..], self.places(dilation)?);
        Some(Array::from_fn(&[&a.shape[..2], &places].concat(), |index| {
            let (mut inside, mut padded) = (Vec::new(), 0);
            each_index(&self.kernel, |tap| {
                let at: Vec<usize> =
                    (0..N).map(|i| index[i + 2] * self.stride[i] + tap[i] * dilation[i]).collect();
                padded += usize::from((0..N).all(|i| at[i] < sizes[i] + self.pads[i].0 + self.pads[i].1));
                let at = (0..N).map(|i| at[i].checked_sub(self.pads[i].0).filter(|&at| at < sizes[i]));
                if let Some(at) = at.collect::<Option<Vec<_>>>() {
                    inside.push((crate::array::flat(&at, sizes), a.at(&[&index[..2], &at].concat())));
                }
            });
            f(&inside, padded)
        }))
    }

    /// The largest; the first of equal ones, of NaNs the last.
    fn largest(&self, a: &Array<f64>) -> Option<Array<(i128, f64)>> {
        self.windows(a, self.dilation, |inside, _| {
            inside.iter().fold((-1, f64::NEG_INFINITY), |best: (i128, f64), &(at, x)| {
                let wins = x.is_nan() || best.0 < 0 || x > best.1;
                if wins { (at as i128, x) } else { best }
            })
        })
    }

    fn check_max(&self, run: impl Fn(&Tensor, &MaxPoolOptions<N>) -> Result<(Tensor, Tensor)>) -> Tested {
        let a = self.x.quarters();
        let options = MaxPoolOptions {
            kernel_size: self.kernel,
            stride: self.stride,
            padding: self.pads,
            dilation: self.dilation,
            ceil_mode: self.ceil,
        };
        let (found, expected) = (run(&self.x.tensor(&a), &options), self.largest(&a));
        prop_assert_eq!(found.is_ok(), expected.is_some(), "{:?}", self);
        let (Ok((values, places)), Some(expected)) = (found, expected) else { return Ok(()) };
        exactly("max_pool", &values, self.x.dtype, &expected.map(|(_, x)| x))?;
        exactly("max_pool indices", &places, INT, &expected.map(|(at, _)| at))
    }

    fn check_mean(&self, run: impl Fn(&Tensor, &AvgPoolOptions<N>) -> Result<Tensor>) -> Tested {
        let a = self.x.finite();
        let options = AvgPoolOptions {
            kernel_size: self.kernel,
            stride: self.stride,
            padding: self.pads,
            count_include_pad: self.with_pads,
            ceil_mode: self.ceil,
        };
        let expected = self.windows(&a, [1; N], |inside, padded| {
            let count = if self.with_pads { padded } else { inside.len() };
            inside.iter().map(|&(_, x)| x).sum::<f64>() / count.max(1) as f64
        });
        let found = run(&self.x.tensor(&a), &options);
        prop_assert_eq!(found.is_ok(), expected.is_some(), "{:?}", self);
        let (Ok(found), Some(expected)) = (found, expected) else { return Ok(()) };
        nearly("avg_pool", &found, self.x.dtype, &expected, 2.0)
    }

    fn check_adaptive(&self, run: impl Fn(&Tensor, [usize; N]) -> Result<Tensor>) -> Tested {
        let (a, wanted) = (self.x.finite(), self.kernel);
        let found = run(&self.x.tensor(&a), wanted);
        let sizes = &a.shape[2..];
        prop_assert_eq!(found.is_ok(), !sizes.contains(&0));
        let Ok(found) = found else { return Ok(()) };
        let expected = Array::from_fn(&[&a.shape[..2], &wanted].concat(), |index| {
            let from: Vec<usize> = (0..N).map(|i| index[i + 2] * sizes[i] / wanted[i]).collect();
            let len: Vec<usize> =
                (0..N).map(|i| ((index[i + 2] + 1) * sizes[i]).div_ceil(wanted[i]) - from[i]).collect();
            let mut sum = 0.0;
            each_index(&len, |tap| {
                let at: Vec<usize> = from.iter().zip(tap).map(|(a, b)| a + b).collect();
                sum += a.at(&[&index[..2], &at].concat());
            });
            sum / len.iter().product::<usize>() as f64
        });
        nearly("adaptive_avg_pool", &found, self.x.dtype, &expected, 2.0)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn largest_of_windows_of_lines(case in pool::<1>()) {
        case.check_max(|x, options| x.max_pool1d_with_indices(options))?;
        case.check_max(|x, options| Ok((x.max_pool1d(options)?, x.max_pool1d_with_indices(options)?.1)))?;
    }

    #[test]
    fn largest_of_windows_of_planes(case in pool::<2>()) {
        case.check_max(|x, options| x.max_pool2d_with_indices(options))?;
    }

    #[test]
    fn means_of_windows_of_lines(case in pool::<1>()) {
        case.check_mean(|x, options| x.avg_pool1d(options))?;
        case.check_adaptive(|x, sizes| x.adaptive_avg_pool1d(sizes))?;
    }

    #[test]
    fn means_of_windows_of_planes(case in pool::<2>()) {
        case.check_mean(|x, options| x.avg_pool2d(options))?;
        case.check_adaptive(|x, sizes| x.adaptive_avg_pool2d(sizes))?;
    }

    #[test]
    fn means_of_windows_of_volumes(case in pool::<3>()) {
        case.check_mean(|x, options| x.avg_pool3d(options))?;
        case.check_adaptive(|x, sizes| x.adaptive_avg_pool3d(sizes))?;
    }
}
