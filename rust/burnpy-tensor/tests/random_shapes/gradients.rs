//! Gradients beside central differences of doubles, and those of narrow floats beside those of doubles.

use burnpy_tensor::ops::{
    AvgPoolOptions, ConvOptions, ConvTransposeOptions, IndexingUpdateOp, MaxPoolOptions, PadMode, Slice,
    einsum,
};
use burnpy_tensor::{DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Way, tensor};
use crate::cases::{Case, case_of, config, hash, small_shape, way};
use crate::differences::{Run, check, smooth};

type Unary = fn(&Tensor) -> Result<Tensor>;
type Binary = fn(&Tensor, &Tensor) -> Result<Tensor>;
type Along = fn(&Tensor, isize) -> Result<Tensor>;

fn small_case(elements: usize) -> impl Strategy<Value = Case> {
    small_shape(elements).prop_flat_map(|shape| case_of(shape, DType::F64))
}

/// A small case with axes, one of which is chosen.
fn small_case_and_axis() -> impl Strategy<Value = (Case, usize)> {
    (small_case(24).prop_filter("has axes", |case| !case.shape.is_empty()), any::<prop::sample::Index>())
        .prop_map(|(case, axis)| (case.clone(), axis.index(case.shape.len())))
}

/// A small case, and another that broadcasts to it.
fn small_pair() -> impl Strategy<Value = (Case, Case)> {
    (small_case(20), any::<u8>(), 0usize..3).prop_flat_map(|(case, ones, drop)| {
        let sizes =
            case.shape.iter().enumerate().map(|(axis, &size)| if ones >> axis & 1 == 1 { 1 } else { size });
        let shape: Vec<usize> = sizes.skip(drop).collect();
        (Just(case), case_of(shape, DType::F64))
    })
}

/// The number, moved away from those beside it, where the greater and the lesser of both have a corner.
fn apart(mut x: f64, others: &[f64]) -> f64 {
    while others.iter().any(|other| (x - other).abs() < 1e-3) {
        x += 2.5e-3;
    }
    x
}

fn shaped(shape: &[usize], seed: u64) -> impl Strategy<Value = Case> {
    let shape = shape.to_vec();
    way(shape.len()).prop_map(move |way| Case { shape: shape.clone(), way, dtype: DType::F64, seed })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn of_functions_of_one(case in small_case(16)) {
        let a = smooth(&case);
        let positive = a.map(f64::abs);
        let functions: [(&str, Unary); 19] = [
            ("exp", Tensor::exp),
            ("sin", Tensor::sin),
            ("cos", Tensor::cos),
            ("tanh", Tensor::tanh),
            ("abs", Tensor::abs),
            ("square", Tensor::square),
            ("recip", Tensor::recip),
            ("sigmoid", Tensor::sigmoid),
            ("relu", Tensor::relu),
            ("gelu", Tensor::gelu),
            ("silu", Tensor::silu),
            ("mish", Tensor::mish),
            ("erf", Tensor::erf),
            ("atan", Tensor::atan),
            ("softplus", |x| x.softplus(1.5, 20.0)),
            ("powi_scalar", |x| x.powi_scalar(3)),
            ("clamp", |x| x.clamp((-1.0).into(), 0.5.into())),
            ("rdiv_scalar", |x| x.rdiv_scalar(2.0.into())),
            ("fmod_scalar", |x| x.fmod_scalar(0.77.into())),
        ];
        for (name, run) in functions {
            check(name, std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| run(&x[0]))?;
        }
        let of_positive: [(&str, Unary); 3] =
            [("log", Tensor::log), ("sqrt", Tensor::sqrt), ("powf_scalar", |x| x.powf_scalar(1.7))];
        for (name, run) in of_positive {
            check(name, std::slice::from_ref(&case), std::slice::from_ref(&positive), &|x| run(&x[0]))?;
        }
    }

    #[test]
    fn of_functions_of_two((a_case, b_case) in small_pair()) {
        let (a, b) = (smooth(&a_case), smooth(&b_case).map(|x| x * 1.1));
        let functions: [(&str, Binary); 9] = [
            ("add", Tensor::add),
            ("sub", Tensor::sub),
            ("mul", Tensor::mul),
            ("div", Tensor::div),
            ("atan2", Tensor::atan2),
            ("hypot", Tensor::hypot),
            ("max_pair", Tensor::max_pair),
            ("min_pair", Tensor::min_pair),
            ("mask_where", |x, y| x.mask_where(&x.inner().greater_scalar(0.0.into())?, y)),
        ];
        for (name, run) in functions {
            check(name, &[a_case.clone(), b_case.clone()], &[a.clone(), b.clone()], &|x| run(&x[0], &x[1]))?;
            check(name, &[b_case.clone(), a_case.clone()], &[b.clone(), a.clone()], &|x| run(&x[0], &x[1]))?;
        }
        let positive = a.map(f64::abs);
        check("powf", &[a_case, b_case], &[positive, b], &|x| x[0].powf(&x[1]))?;
    }

    #[test]
    fn of_reductions((case, axis) in small_case_and_axis()) {
        let (a, dim, size) = (smooth(&case), axis as isize, case.shape[axis]);
        let all = case.shape.contains(&0);
        let functions: [(&str, bool, Along); 19] = [
            ("sum_dim", true, Tensor::sum_dim),
            ("mean_dim", size > 0, Tensor::mean_dim),
            ("prod_dim", true, Tensor::prod_dim),
            ("var", size > 1, Tensor::var),
            ("var_bias", size > 0, Tensor::var_bias),
            ("max_dim", size > 0, Tensor::max_dim),
            ("min_dim", size > 0, Tensor::min_dim),
            ("max_abs_dim", size > 0, Tensor::max_abs_dim),
            ("cumsum", true, Tensor::cumsum),
            ("cumprod", true, Tensor::cumprod),
            ("cummax", true, Tensor::cummax),
            ("cummin", true, Tensor::cummin),
            ("softmax", true, Tensor::softmax),
            ("log_softmax", true, Tensor::log_softmax),
            ("softmin", true, Tensor::softmin),
            ("quiet_softmax", true, Tensor::quiet_softmax),
            ("sort", true, Tensor::sort),
            ("median", size > 0, Tensor::median),
            ("vector_norm", size > 0, |x, dim| x.vector_norm(3.0, dim)),
        ];
        for (name, possible, run) in functions {
            if possible {
                check(name, std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| run(&x[0], dim))?;
            }
        }
        check("sum", std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| x[0].sum())?;
        check("prod", std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| x[0].prod())?;
        if !all {
            check("max", std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| x[0].max())?;
            check("topk", std::slice::from_ref(&case), std::slice::from_ref(&a), &|x| {
                x[0].topk(size.min(2), dim)
            })?;
        }
    }

    #[test]
    fn of_what_moves_elements(
        (case, axis) in small_case_and_axis(),
        count in 1usize..4,
        bits in any::<u64>(),
    ) {
        let (a, dim, size, rank) = (smooth(&case), axis as isize, case.shape[axis], case.shape.len());
        let one = |name: &str, run: Run<'_>| {
            check(name, std::slice::from_ref(&case), std::slice::from_ref(&a), run)
        };
        one("flip", &|x| x[0].flip(&[dim]))?;
        one("swap_dims", &|x| x[0].swap_dims(dim, 0))?;
        one("flatten", &|x| x[0].swap_dims(dim, 0)?.flatten(0, -1))?;
        one("expand", &|x| {
            x[0].unsqueeze_dim(dim)?.expand(&{
                let mut s = vec![-1isize; rank + 1];
                s[axis] = 3;
                s
            })
        })?;
        one("repeat_dim", &|x| x[0].repeat_dim(dim, count))?;
        one("roll_dim", &|x| x[0].roll_dim(count as isize, dim))?;
        let step = if bits & 1 == 0 { 2 } else { -1 };
        one("slice_dim", &|x| {
            x[0].slice_dim(dim, Slice::Range { start: Some((bits >> 1 & 1) as isize), stop: None, step })
        })?;
        one("pad", &|x| x[0].pad(&[(1, 2)], PadMode::Constant(0.5.into())))?;
        if case.shape[rank - 1] > 2 {
            one("pad Reflect", &|x| x[0].pad(&[(2, 1)], PadMode::Reflect))?;
            one("pad Edge", &|x| x[0].pad(&[(2, 1)], PadMode::Edge))?;
        }
        one("cat", &|x| Tensor::cat(&[&x[0], &x[0].square()?, &x[0]], dim))?;
        one("stack", &|x| Tensor::stack(&[&x[0], &x[0].neg()?], dim))?;
        if rank > 1 {
            one("tril", &|x| x[0].tril(count as isize - 2))?;
        }
        if size == 0 {
            return Ok(());
        }
        one("unfold", &|x| x[0].unfold(dim, size.min(2), 1))?;
        let mut shape = case.shape.clone();
        shape[axis] = count;
        let mut i = 0;
        let at = Array::from_fn(&shape, |_| {
            i += 1;
            i128::from(hash(bits, i) % size as u64)
        });
        let places = tensor(&at, &Way::plain(rank), DType::I32);
        one("gather", &|x| x[0].gather(dim, &places))?;
        let rows = tensor(
            &Array {
                shape: vec![count],
                data: (0..count).map(|i| i128::from(hash(bits, i) % size as u64)).collect(),
            },
            &Way::plain(1),
            DType::I64,
        );
        one("select", &|x| x[0].select(dim, &rows))?;
        let values = Case { shape, way: Way::plain(rank), seed: bits, ..case.clone() };
        let b = smooth(&values).map(|x| apart(x * 1.05, &a.data));
        let both = [case.clone(), values];
        for update in [
            IndexingUpdateOp::Assign,
            IndexingUpdateOp::Add,
            IndexingUpdateOp::Mul,
            IndexingUpdateOp::Min,
            IndexingUpdateOp::Max,
        ] {
            check("scatter", &both, &[a.clone(), b.clone()], &|x| x[0].scatter(dim, &places, &x[1], update))?;
            check("select_assign", &both, &[a.clone(), b.clone()], &|x| {
                x[0].select_assign(dim, &rows, &x[1], update)
            })?;
        }
    }

    #[test]
    fn of_products(
        sizes in prop::array::uniform3(0usize..5),
        batch in prop::collection::vec(1usize..3, 0..2),
        ways in (way(3), way(3)),
        seed in any::<u64>(),
    ) {
        let [m, k, n] = sizes;
        let of = |shape: Vec<usize>, way: &Way, seed: u64| {
            let way = if shape.len() == 3 { way.clone() } else { Way::plain(shape.len()) };
            Case { shape, way, dtype: DType::F64, seed }
        };
        let a = of([&batch[..], &[m, k]].concat(), &ways.0, seed);
        let one = batch.iter().map(|&size| if seed & 1 == 0 { 1 } else { size }).collect::<Vec<_>>();
        let b = of([&one[..], &[k, n]].concat(), &ways.1, seed ^ 1);
        let arrays = [smooth(&a), smooth(&b)];
        check("matmul", &[a.clone(), b.clone()], &arrays, &|x| x[0].matmul(&x[1]))?;
        let (weight, bias) = (of(vec![k, n], &ways.1, seed ^ 2), of(vec![n], &ways.1, seed ^ 3));
        let arrays = [smooth(&a), smooth(&weight), smooth(&bias)];
        check("linear", &[a.clone(), weight, bias], &arrays, &|x| {
            x[0].linear(&x[1], Some(&x[2]), burnpy_tensor::kernels::gemm::Activation::None)
        })?;
        let c = of(vec![k, n], &ways.1, seed ^ 4);
        check("einsum", &[a, c.clone()], &[arrays[0].clone(), smooth(&c)], &|x| {
            einsum("...ij,jk->...ki", &[&x[0], &x[1]])
        })?;
    }

    #[test]
    fn of_windows(
        (batch, groups, inputs, outputs) in (1usize..3, 1usize..3, 1usize..3, 1usize..3),
        axes in ((2usize..5, 2usize..5), 1usize..3, 1usize..3, 0usize..2, 1usize..3),
        seed in any::<u64>(),
        order in way(4),
    ) {
        let ((height, width), kernel, stride, pad, dilation) = axes;
        prop_assume!(height + 2 * pad > dilation * (kernel - 1) && width + 2 * pad > dilation * (kernel - 1));
        let of = |shape: Vec<usize>, seed: u64| Case {
            way: if shape.len() == 4 { order.clone() } else { Way::plain(shape.len()) },
            shape,
            dtype: DType::F64,
            seed,
        };
        let x = of(vec![batch, groups * inputs, height, width], seed);
        let cases = [
            x.clone(),
            of(vec![groups * outputs, inputs, kernel, kernel], seed ^ 1),
            of(vec![groups * outputs], seed ^ 2),
        ];
        let options = ConvOptions {
            stride: [stride, 1],
            padding: [(pad, pad), (pad, 0)],
            dilation: [dilation, 1],
            groups,
        };
        if width + pad >= kernel {
            check("conv2d", &cases, &cases.each_ref().map(smooth), &|x| {
                x[0].conv2d(&x[1], Some(&x[2]), &options)
            })?;
        }
        let cases = [
            x.clone(),
            of(vec![groups * inputs, outputs, kernel, kernel], seed ^ 1),
            of(vec![groups * outputs], seed ^ 2),
        ];
        let options = ConvTransposeOptions {
            stride: [stride, 1],
            padding: [0, 0],
            padding_out: [pad, 0],
            dilation: [dilation, 1],
            groups,
        };
        check("conv_transpose2d", &cases, &cases.each_ref().map(smooth), &|x| {
            x[0].conv_transpose2d(&x[1], Some(&x[2]), &options)
        })?;
        let options = MaxPoolOptions { stride: [stride, 1], ..MaxPoolOptions::new([kernel, kernel]) };
        check("max_pool2d", std::slice::from_ref(&x), &[smooth(&x)], &|x| x[0].max_pool2d(&options))?;
        let options = AvgPoolOptions {
            stride: [stride, 1],
            padding: [(pad, 0), (0, pad)],
            ceil_mode: seed & 1 == 0,
            count_include_pad: seed & 2 == 0,
            ..AvgPoolOptions::new([kernel, kernel])
        };
        check("avg_pool2d", std::slice::from_ref(&x), &[smooth(&x)], &|x| x[0].avg_pool2d(&options))?;
    }

    #[test]
    fn of_norms(case in shaped(&[3, 2, 4], 5), seed in any::<u64>(), width in select(&[1usize, 2, 5][..])) {
        let x = Case { shape: vec![3, 2, width], seed, ..case };
        let row = |seed: u64| Case { shape: vec![width], way: Way::plain(1), dtype: DType::F64, seed };
        let cases = [x.clone(), row(seed ^ 1), row(seed ^ 2)];
        check("layer_norm", &cases, &cases.each_ref().map(smooth), &|x| {
            x[0].layer_norm(&x[1], Some(&x[2]), 0.5)
        })?;
        check("rms_norm", &cases[..2], &[smooth(&x), smooth(&cases[1])], &|x| x[0].rms_norm(&x[1], 0.5))?;
    }
}
