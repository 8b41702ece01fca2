use burnpy_buffer::BasicIndex::{self, Ellipsis, Int, NewAxis};

use super::*;
use crate::ops::testing::{check_gradients, elements, ints, leaf};

fn stepped(start: isize, stop: isize, step: isize) -> Slice {
    Slice::Range { start: Some(start), stop: Some(stop), step }
}

#[test]
fn a_slice_selects_a_range_and_walks_it_by_its_step() {
    let x = ints(&[0, 1, 2, 3, 4, 5], &[6]);
    let cases: [(Slice, &[f64]); 14] = [
        (Slice::ALL, &[0., 1., 2., 3., 4., 5.]),
        (Slice::At(2), &[2.]),
        (Slice::At(-1), &[5.]),
        (Slice::range(1, 3), &[1., 2.]),
        (Slice::range(-2, 99), &[4., 5.]),
        (Slice::range(-99, -4), &[0., 1.]),
        (Slice::range(3, 3), &[]),
        (Slice::range(4, 2), &[]),
        (Slice::range(99, 100), &[]),
        (stepped(0, 5, -1), &[4., 3., 2., 1., 0.]),
        (stepped(0, 6, -2), &[5., 3., 1.]),
        (stepped(0, 6, 4), &[0., 4.]),
        (stepped(1, 6, isize::MIN), &[5.]),
        (Slice::Range { start: Some(isize::MIN), stop: None, step: isize::MAX }, &[0.]),
    ];
    for (slice, expected) in cases {
        let part = x.slice(&[slice]).unwrap();
        assert_eq!((elements(&part), part.shape()), (expected.to_vec(), &[expected.len()][..]), "{slice:?}");
    }
}

#[test]
fn gradients_of_parts_are_zero_around_them() {
    let slices: [&[Slice]; 5] = [
        &[],
        &[Slice::At(1)],
        &[Slice::ALL, stepped(0, 5, -2), Slice::range(1, 3)],
        &[stepped(0, 3, 2), Slice::ALL, Slice::At(-1)],
        &[Slice::range(1, 1)],
    ];
    for slices in slices {
        let x = leaf(&[3, 5, 4]);
        check_gradients(std::slice::from_ref(&x), |x| x[0].slice(slices));
        let turned = x.permute(&[1, 0, 2]).unwrap().detach().require_grad().unwrap();
        check_gradients(&[turned], |x| x[0].permute(&[1, 0, 2])?.slice(slices));
        let values = leaf(x.slice(slices).unwrap().shape());
        check_gradients(&[x.clone(), values], |x| x[0].slice_assign(slices, &x[1]));
        check_gradients(std::slice::from_ref(&x), |x| x[0].slice_fill(slices, Scalar::Float(2.0)));
    }
    let x = leaf(&[3, 4]);
    check_gradients(std::slice::from_ref(&x), |x| x[0].narrow(1, 1, 2));
    check_gradients(std::slice::from_ref(&x), |x| x[0].select_dim(-1, -2));
    check_gradients(std::slice::from_ref(&x), |x| x[0].slice_dim(-1, stepped(0, 4, -1)));
}

#[test]
fn parts_are_replaced() {
    let x = ints(&[0, 1, 2, 3, 4, 5], &[2, 3]);
    let slices = [Slice::ALL, stepped(0, 3, -2)];
    let y = x.slice_assign(&slices, &ints(&[10, 20, 30, 40], &[2, 2])).unwrap();
    assert_eq!(elements(&y), [20., 1., 10., 40., 4., 30.]);
    assert_eq!(elements(&x.slice_fill(&slices, Scalar::Int(7)).unwrap()), [7., 1., 7., 7., 4., 7.]);
    let same = x.slice_assign(&[Slice::range(0, 0)], &ints(&[], &[0, 3])).unwrap();
    assert_eq!(elements(&same), elements(&x));
}

#[test]
fn basic_indices_are_numpys() {
    let x = leaf(&[2, 3, 4]);
    let all = elements(&x);
    let backwards = BasicIndex::Slice { start: None, stop: None, step: Some(-2) };
    let cases: [(&[BasicIndex], &[usize], &[usize]); 5] = [
        (&[Int(1), Int(-1)], &[4], &[20, 21, 22, 23]),
        (&[Ellipsis, Int(0)], &[2, 3], &[0, 4, 8, 12, 16, 20]),
        (&[Int(0), NewAxis, Int(0), backwards], &[1, 2], &[3, 1]),
        (&[Int(0), Int(0), Int(0)], &[], &[0]),
        (&[BasicIndex::Slice { start: Some(2), stop: None, step: None }], &[0, 3, 4], &[]),
    ];
    for (index, shape, expected) in cases {
        let part = x.index(index).unwrap();
        assert_eq!(part.shape(), shape);
        assert_eq!(elements(&part), expected.iter().map(|&i| all[i]).collect::<Vec<_>>());
        check_gradients(std::slice::from_ref(&x), |x| x[0].index(index));
        check_gradients(&[x.clone(), leaf(shape)], |x| x[0].index_assign(index, &x[1]));
        check_gradients(&[x.clone(), leaf(&[1, 1])], |x| x[0].index_assign(index, &x[1]));
    }
    let y = ints(&[0, 1, 2, 3], &[4]).index_assign(&[backwards], &ints(&[7, 8], &[2])).unwrap();
    assert_eq!(elements(&y), [0., 8., 2., 7.]);
}

#[test]
fn impossible_parts_are_errors() {
    let x = leaf(&[2, 3]);
    let cases = [
        (x.slice(&[Slice::At(2)]), "slice: index 2 is out of bounds for axis 0 of size 2"),
        (x.slice(&[Slice::ALL; 3]), "slice: 3 slices for a tensor of rank 2"),
        (x.slice(&[stepped(0, 1, 0)]), "slice: the slice of axis 0 has a step of 0"),
        (x.narrow(1, 2, 2), "narrow: 2 elements from 2 on leave axis 1 of size 3"),
        (
            x.narrow(1, usize::MAX, 2),
            "narrow: 2 elements from 18446744073709551615 on leave axis 1 of size 3",
        ),
        (x.narrow(1, 0, 0), "narrow: a length of 0; slice gives empty parts"),
        (x.select_dim(0, -3), "index: index -3 is out of bounds for axis 0 with size 2"),
        (
            x.slice_assign(&[Slice::At(0)], &leaf(&[2, 3])),
            "slice_assign: values of shape [2, 3] for a part of shape [1, 3]",
        ),
        (
            x.slice_assign(&[], &ints(&[0; 6], &[2, 3])),
            "slice_assign: dtypes f64 and i32 differ; cast one of them",
        ),
        (
            x.index(&[Int(0), Int(0), Int(0)]),
            "index: too many indices: the array has 2 axes, but 3 were indexed",
        ),
    ];
    for (result, message) in cases {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
}
