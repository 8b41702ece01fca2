//! Convolutions and transposed ones of one to three axes, with groups, strides, paddings and dilations.

use burnpy_tensor::ops::{ConvOptions, ConvTransposeOptions};
use burnpy_tensor::{DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, Way, each_index, exactly, rounded};
use crate::cases::{Case, FLOATS, case_of, config};

/// Numbers for each of `N` axes, and of images and channels.
#[derive(Debug, Clone)]
struct Sliding<const N: usize> {
    x: Case,
    weight: Case,
    bias: bool,
    stride: [usize; N],
    pads: [(usize, usize); N],
    extra: [usize; N],
    dilation: [usize; N],
    groups: usize,
}

fn sliding<const N: usize>(transposed: bool) -> impl Strategy<Value = Sliding<N>> {
    let each = |range: std::ops::Range<usize>| prop::array::UniformArrayStrategy::<_, [usize; N]>::new(range);
    let size = if N == 1 {
        0usize..40
    } else if N == 2 {
        0..12
    } else {
        0..6
    };
    let channels = (0usize..3, 1usize..4, 1usize..4, prop_oneof![6 => 1usize..6, 1 => 6usize..20]);
    let axes = (
        prop::array::UniformArrayStrategy::<_, [usize; N]>::new(size),
        each(1..4),
        each(1..4),
        each(0..3),
        each(0..3),
        each(1..3),
    );
    (channels, axes, select(&FLOATS[..]), any::<bool>()).prop_flat_map(
        move |(
            (batch, groups, inputs, outputs),
            (sizes, kernel, stride, before, after, dilation),
            dtype,
            bias,
        )| {
            let x = [&[batch, groups * inputs], &sizes[..]].concat();
            let ends = if transposed { [groups * inputs, outputs] } else { [groups * outputs, inputs] };
            let weight = [&ends, &kernel[..]].concat();
            let pads = std::array::from_fn(|i| (before[i], if transposed { before[i] } else { after[i] }));
            (case_of(x, dtype), case_of(weight, dtype)).prop_map(move |(x, weight)| Sliding {
                x,
                weight,
                bias,
                stride,
                pads,
                extra: after,
                dilation,
                groups,
            })
        },
    )
}

impl<const N: usize> Sliding<N> {
    fn bias(&self, outputs: usize) -> (Array<f64>, Option<Tensor>) {
        let case = Case { shape: vec![outputs], way: Way::plain(1), ..self.x.clone() };
        let array = case.finite();
        let tensor = case.tensor(&array);
        if self.bias { (array, Some(tensor)) } else { (array.map(|_| 0.0), None) }
    }

    /// The place in the input that a tap of the window at `place` reads, if it is inside.
    fn read(&self, place: &[usize], tap: &[usize], sizes: &[usize]) -> Option<Vec<usize>> {
        (0..N)
            .map(|i| {
                let at =
                    (place[i] * self.stride[i] + tap[i] * self.dilation[i]).checked_sub(self.pads[i].0)?;
                (at < sizes[i]).then_some(at)
            })
            .collect()
    }

    fn extent(&self, i: usize) -> usize {
        self.dilation[i] * (self.weight.shape[i + 2] - 1) + 1
    }

    fn convolved(&self, x: &Array<f64>, weight: &Array<f64>, bias: &Array<f64>) -> Option<Array<f64>> {
        let (sizes, kernel) = (&x.shape[2..], &weight.shape[2..]);
        let room = (0..N).map(|i| (sizes[i] + self.pads[i].0 + self.pads[i].1).checked_sub(self.extent(i)));
        let places =
            room.enumerate().map(|(i, room)| Some(room? / self.stride[i] + 1)).collect::<Option<Vec<_>>>()?;
        let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
        Some(Array::from_fn(&[&[x.shape[0], outputs], &places[..]].concat(), |index| {
            let (output, mut sum) = (index[1], bias.data[index[1]]);
            let group = output / (outputs / self.groups);
            each_index(kernel, |tap| {
                let Some(at) = self.read(&index[2..], tap, sizes) else { return };
                for input in 0..inputs {
                    let x = x.at(&[&[index[0], group * inputs + input], &at[..]].concat());
                    sum += x * weight.at(&[&[output, input], tap].concat());
                }
            });
            rounded(sum, self.x.dtype)
        }))
    }

    fn transposed(&self, x: &Array<f64>, weight: &Array<f64>, bias: &Array<f64>) -> Option<Array<f64>> {
        let (sizes, kernel) = (&x.shape[2..], &weight.shape[2..]);
        let whole = |i: usize| {
            sizes[i].checked_sub(1).map(|last| last * self.stride[i] + self.extent(i) + self.extra[i])
        };
        let wanted = (0..N).map(|i| whole(i)?.checked_sub(2 * self.pads[i].0).filter(|&size| size > 0));
        let wanted = wanted.collect::<Option<Vec<_>>>()?;
        let (inputs, outputs) = (x.shape[1] / self.groups, weight.shape[1]);
        let mut out =
            Array::from_fn(&[&[x.shape[0], self.groups * outputs], &wanted[..]].concat(), |index| {
                bias.data[index[1]]
            });
        each_index(&x.shape, |index| {
            let group = index[1] / inputs;
            each_index(kernel, |tap| {
                let Some(at) = self.read(&index[2..], tap, &wanted) else { return };
                for output in 0..outputs {
                    let place = [&[index[0], group * outputs + output], &at[..]].concat();
                    let place = crate::array::flat(&place, &out.shape);
                    out.data[place] += x.at(index) * weight.at(&[&[index[1], output], tap].concat());
                }
            });
        });
        Some(out.map(|x| rounded(x, self.x.dtype)))
    }

    fn options(&self) -> ConvOptions<N> {
        ConvOptions { stride: self.stride, padding: self.pads, dilation: self.dilation, groups: self.groups }
    }

    fn transposed_options(&self) -> ConvTransposeOptions<N> {
        let padding = self.pads.map(|(pad, _)| pad);
        ConvTransposeOptions {
            stride: self.stride,
            padding,
            padding_out: self.extra,
            dilation: self.dilation,
            groups: self.groups,
        }
    }

    fn check(
        &self,
        transposed: bool,
        run: impl Fn(&Tensor, &Tensor, Option<&Tensor>) -> Result<Tensor>,
    ) -> Tested {
        let (x, weight) = (self.x.finite(), self.weight.finite());
        let outputs = if transposed { self.groups * weight.shape[1] } else { weight.shape[0] };
        let (b, bias) = self.bias(outputs);
        let expected =
            if transposed { self.transposed(&x, &weight, &b) } else { self.convolved(&x, &weight, &b) };
        let found = run(&self.x.tensor(&x), &self.weight.tensor(&weight), bias.as_ref());
        match (found, expected) {
            (Ok(found), Some(expected)) => exactly("convolution", &found, self.x.dtype, &expected),
            (Err(_), None) => Ok(()),
            (found, expected) => {
                let shape = expected.map(|expected| expected.shape);
                prop_assert!(false, "{:?}, expected {:?}: {:?}", found, shape, self);
                Ok(())
            }
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn convolutions_of_lines(case in sliding::<1>(false)) {
        case.check(false, |x, weight, bias| x.conv1d(weight, bias, &case.options()))?;
    }

    #[test]
    fn convolutions_of_planes(case in sliding::<2>(false)) {
        case.check(false, |x, weight, bias| x.conv2d(weight, bias, &case.options()))?;
    }

    #[test]
    fn convolutions_of_volumes(case in sliding::<3>(false)) {
        case.check(false, |x, weight, bias| x.conv3d(weight, bias, &case.options()))?;
    }

    #[test]
    fn transposed_convolutions_of_lines(case in sliding::<1>(true)) {
        case.check(true, |x, weight, bias| x.conv_transpose1d(weight, bias, &case.transposed_options()))?;
    }

    #[test]
    fn transposed_convolutions_of_planes(case in sliding::<2>(true)) {
        case.check(true, |x, weight, bias| x.conv_transpose2d(weight, bias, &case.transposed_options()))?;
    }

    #[test]
    fn transposed_convolutions_of_volumes(case in sliding::<3>(true)) {
        case.check(true, |x, weight, bias| x.conv_transpose3d(weight, bias, &case.transposed_options()))?;
    }

    #[test]
    fn channels_that_do_not_fit_are_errors(case in sliding::<1>(false), other in 1usize..5) {
        let (x, weight) = (case.x.tensor(&case.x.finite()), case.weight.tensor(&case.weight.finite()));
        let wrong =
            Tensor::ones(&[case.weight.shape[0], case.weight.shape[1] + other, 1], case.x.dtype).unwrap();
        prop_assert!(x.conv1d(&wrong, None, &case.options()).is_err());
        let long = Tensor::ones(&[case.weight.shape[0] + other], case.x.dtype).unwrap();
        prop_assert!(x.conv1d(&weight, Some(&long), &case.options()).is_err());
        let mixed = if case.x.dtype == DType::F64 { DType::F32 } else { DType::F64 };
        prop_assert!(x.conv1d(&weight.cast(mixed).unwrap(), None, &case.options()).is_err());
        for options in
            [ConvOptions { groups: 0, ..case.options() }, ConvOptions { stride: [0], ..case.options() }]
        {
            prop_assert!(x.conv1d(&weight, None, &options).is_err());
        }
    }
}
