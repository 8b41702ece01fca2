use super::*;
use crate::ops::IndexingUpdateOp::{Add, Assign, Max, Min, Mul};
use crate::ops::testing::{check_gradients, elements, ints, leaf, leaf_of, numbers};

#[test]
fn elements_are_picked_by_index() {
    let x = ints(&[0, 1, 2, 3, 4, 5], &[2, 3]);
    let list = ints(&[1, 1, 0, 1, 2], &[5]);
    assert_eq!(elements(&x.select(1, &list).unwrap()), [1., 1., 0., 1., 2., 4., 4., 3., 4., 5.]);
    let rows = ints(&[0, 1, 0, 1, 0, 1], &[2, 3]);
    assert_eq!(elements(&x.gather(0, &rows).unwrap()), [0., 4., 2., 3., 1., 5.]);
    let columns = ints(&[2, 1, 0, 0, 2, 0, 1, 2], &[2, 4]);
    assert_eq!(elements(&x.gather(1, &columns).unwrap()), [2., 1., 0., 0., 5., 3., 4., 5.]);
    let turned = x.transpose().unwrap();
    assert_eq!(elements(&turned.select(0, &list).unwrap()), [1., 4., 1., 4., 0., 3., 1., 4., 2., 5.]);
    let taken = x.take(0, &ints(&[1, 0, 1, 1], &[2, 2])).unwrap();
    assert_eq!(
        (taken.shape(), elements(&taken)[..6].to_vec()),
        (&[2, 2, 3][..], vec![3., 4., 5., 0., 1., 2.])
    );
    let table = x.embedding(&ints(&[1, 0], &[1, 2])).unwrap();
    assert_eq!((table.shape(), elements(&table)), (&[1, 2, 3][..], vec![3., 4., 5., 0., 1., 2.]));
    assert_eq!(elements(&x.gather_nd(&ints(&[1, 2, 0, 1], &[2, 2])).unwrap()), [5., 1.]);
    assert_eq!(x.gather_nd(&ints(&[1, 0, 1], &[3, 1])).unwrap().shape(), [3, 3]);
    assert_eq!(x.gather_nd(&ints(&[], &[4, 0])).unwrap().shape(), [4, 2, 3]);
    assert_eq!(x.select(0, &ints(&[], &[0])).unwrap().shape(), [0, 3]);
}

#[test]
fn masks_pick_in_order() {
    let x = ints(&[0, 7, 0, 3], &[2, 2]);
    let mask = x.cast(crate::BOOL).unwrap();
    assert_eq!(elements(&x.mask_select(&mask).unwrap()), [7., 3.]);
    let places = x.argwhere().unwrap();
    assert_eq!((places.shape(), elements(&places)), (&[2, 2][..], vec![0., 1., 1., 1.]));
    assert_eq!(mask.nonzero().unwrap().iter().map(elements).collect::<Vec<_>>(), [[0., 1.], [1., 1.]]);
    assert_eq!(ints(&[1], &[]).argwhere().unwrap().shape(), [1, 0]);
}

#[test]
fn gradients_of_picks_add_up() {
    let (x, list) = (leaf(&[2, 3, 4]), ints(&[1, 0, 1], &[3]));
    for dim in 0..3 {
        check_gradients(std::slice::from_ref(&x), |x| x[0].select(dim, &list));
        let mut shape = [2, 3, 4];
        shape[dim as usize] = 5;
        let places: Vec<i32> = (0..shape.iter().product::<usize>() as i32).map(|i| i * i % 2).collect();
        check_gradients(std::slice::from_ref(&x), |x| x[0].gather(dim, &ints(&places, &shape)));
    }
    check_gradients(std::slice::from_ref(&x), |x| x[0].take(1, &ints(&[2, 0, 2, 2], &[2, 2])));
    check_gradients(std::slice::from_ref(&x), |x| x[0].gather_nd(&ints(&[1, 2, 1, 2, 0, 0], &[3, 2])));
    check_gradients(&[leaf(&[5, 3])], |x| x[0].embedding(&ints(&[4, 0, 4, 1], &[2, 2])));
    let mask = ints(&[0, 1, 1, 0, 0, 1], &[2, 3]).cast(crate::BOOL).unwrap();
    check_gradients(&[leaf(&[2, 3])], |x| x[0].mask_select(&mask));
}

#[test]
fn updates_follow_the_order_of_the_indices() {
    let x = ints(&[1, 2, 3], &[3]);
    let (list, values) = (ints(&[0, 2, 0], &[3]), ints(&[5, 1, -4], &[3]));
    for (update, expected) in [
        (Assign, [-4., 2., 1.]),
        (Add, [2., 2., 4.]),
        (Mul, [-20., 2., 3.]),
        (Min, [-4., 2., 1.]),
        (Max, [5., 2., 3.]),
    ] {
        for result in [
            x.scatter(0, &list, &values, update),
            x.select_assign(0, &list, &values, update),
            x.scatter_nd(&list.unsqueeze_dim(1).unwrap(), &values, update),
        ] {
            assert_eq!(elements(&result.unwrap()), expected, "{update:?}");
        }
    }
    let flags = |data| ints(data, &[3]).cast(crate::BOOL).unwrap();
    let or = flags(&[0, 1, 0]).scatter(0, &list, &flags(&[1, 0, 0]), Add).unwrap();
    assert_eq!(elements(&or), [1., 1., 0.]);
    assert_eq!(elements(&x), [1., 2., 3.]);
}

/// A leaf without an element in common with [`leaf`]: the lesser of two equal ones has no derivative.
fn shifted(shape: &[usize]) -> Tensor {
    let numbers: Vec<f64> = numbers(shape.iter().product()).iter().map(|x| x * 1.01 + 0.003).collect();
    leaf_of(&numbers, shape)
}

#[test]
fn gradients_of_updates_are_right_also_where_indices_repeat() {
    let list = ints(&[1, 0, 1], &[3]);
    for update in [Assign, Add, Mul, Min, Max] {
        for dim in 0..3 {
            let mut shape = [2, 3, 4];
            shape[dim as usize] = 3;
            let places: Vec<i32> = (0..shape.iter().product::<usize>() as i32).map(|i| i * i % 2).collect();
            let (x, values) = (leaf(&[2, 3, 4]), shifted(&shape));
            check_gradients(&[x.clone(), values.clone()], |x| x[0].select_assign(dim, &list, &x[1], update));
            check_gradients(&[x, values], |x| x[0].scatter(dim, &ints(&places, &shape), &x[1], update));
        }
        let at = ints(&[1, 2, 1, 2, 0, 0], &[3, 2]);
        check_gradients(&[leaf(&[2, 3, 4]), shifted(&[3, 4])], |x| x[0].scatter_nd(&at, &x[1], update));
    }
}

#[test]
fn rows_of_a_large_table_are_summed_in_order() {
    let (entries, width, count) = (1000, 70, 3000);
    let table = Value::zeros(&[entries, width], crate::DType::F32).unwrap();
    let list: Vec<u32> = (0..count as u32).map(|i| i * i % entries as u32).collect();
    let values: Vec<f32> = (0..count * width).map(|i| (i as f32).sin()).collect();
    let mut expected = vec![0f32; entries * width];
    for (k, &row) in list.iter().enumerate() {
        for i in 0..width {
            expected[row as usize * width + i] += values[k * width + i];
        }
    }
    let pick = Pick::Rows { outer: 1, size: entries, inner: width };
    let at = Indices::new(&list).unwrap();
    let values = Value::from_slice(&values, &[count, width]).unwrap();
    let sum = updated("test", table, pick, &at, &values, Add).unwrap();
    assert_eq!(sum.as_slice::<f32>(), Some(&expected[..]));
    let back = picked_values(&sum, pick, &at, &[count, width]).unwrap();
    let back = back.as_slice::<f32>().unwrap().chunks(width);
    assert!(back.zip(&list).all(|(row, &at)| row == &expected[at as usize * width..][..width]));
}

#[test]
fn indices_outside_are_errors_with_the_number() {
    let x = leaf(&[2, 3]);
    let i = |index| ints(&[index], &[1]);
    let cases = [
        (x.select(0, &i(2)), "select: index 2 is out of bounds for an axis of size 2"),
        (x.select(0, &i(-1)), "select: index -1 is out of bounds for an axis of size 2"),
        (x.select(0, &ints(&[0], &[])), "select: indices must have rank 1, got shape []; take has any"),
        (x.select(0, &x), "select: indices must have rank 1, got shape [2, 3]; take has any"),
        (x.take(0, &x), "take: indices must be integers, got f64"),
        (x.gather(0, &ints(&[3, 0, 0], &[1, 3])), "gather: index 3 is out of bounds for an axis of size 2"),
        (x.gather(0, &i(0)), "gather: indices of shape [1] differ from [2, 3] in more than axis 0"),
        (x.gather_nd(&ints(&[0, 3], &[1, 2])), "gather_nd: index 3 is out of bounds for an axis of size 3"),
        (x.gather_nd(&ints(&[0; 3], &[3])), "gather_nd: indices of shape [3] for a tensor of shape [2, 3]"),
        (x.embedding(&i(5)), "embedding: index 5 is out of bounds for an axis of size 2"),
        (
            x.scatter(0, &ints(&[0; 3], &[1, 3]), &leaf(&[2, 3]), Add),
            "scatter: values of shape [2, 3] for indices of [1, 3]",
        ),
        (
            x.select_assign(0, &i(0), &leaf(&[2, 3]), Add),
            "select_assign: values of shape [2, 3] for indices of shape [1], expected [1, 3]",
        ),
        (x.mask_select(&x), "mask_select: the mask must be of booleans, got f64"),
    ];
    for (result, message) in cases {
        assert_eq!(result.unwrap_err().to_string(), message);
    }
    let big = Tensor::from(Value::from_slice(&[u64::MAX], &[1]).unwrap());
    let message = "select: index 18446744073709551615 is out of bounds for an axis of size 2";
    assert_eq!(x.select(0, &big).unwrap_err().to_string(), message);
    let flags = i(1).cast(crate::BOOL).unwrap();
    assert!(flags.scatter(0, &i(0), &flags, Mul).is_err());
}
