//! Three steps of every rule beside numbers that were computed operation by operation in f32.
#![allow(clippy::excessive_precision, reason = "the digits are those of the table")]

use super::*;
use crate::value::Value;

const THETA: [f32; 4] = [1.0, -2.0, 0.5, 0.0];
const GRADIENTS: [[f32; 4]; 3] = [[0.1, -0.2, 0.3, 0.4], [-0.1, 0.4, 0.2, 0.0], [0.3, 0.1, -0.2, -0.5]];

const ADAM: Adam = Adam { weight_decay: None, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-5, amsgrad: false };
const ADAMW: AdamW = AdamW {
    beta_1: 0.9,
    beta_2: 0.999,
    epsilon: 1e-5,
    weight_decay: 1e-4,
    cautious_weight_decay: false,
    amsgrad: false,
};
const RMSPROP: RmsProp =
    RmsProp { weight_decay: None, alpha: 0.99, momentum: 0.9, epsilon: 1e-5, centered: false };
const ADAN: Adan =
    Adan { beta_1: 0.98, beta_2: 0.92, beta_3: 0.99, epsilon: 1e-8, weight_decay: 0.0, no_prox: false };
const LION: Lion = Lion { beta_1: 0.9, beta_2: 0.99, weight_decay: 0.0 };
const MOMENTUM: Momentum = Momentum { momentum: 0.9, dampening: 0.1, nesterov: false };

fn cases() -> Vec<(Rule, [[f32; 4]; 3])> {
    let sgd = |weight_decay, momentum| Rule::Sgd(Sgd { weight_decay, momentum });
    let adagrad = |weight_decay, lr_decay| Rule::AdaGrad(AdaGrad { weight_decay, lr_decay, epsilon: 1e-5 });
    let nesterov = Momentum { nesterov: true, ..MOMENTUM };
    vec![
        (sgd(None, None), [[0.99, -1.98, 0.47, -0.04], [1.0, -2.02, 0.45, -0.04], [0.97, -2.03, 0.47, 0.01]]),
        (
            sgd(None, Some(MOMENTUM)),
            [[0.99, -1.98, 0.47, -0.04], [0.99, -1.998, 0.425, -0.076], [0.963, -2.0232, 0.4025, -0.0634]],
        ),
        (
            sgd(Some(0.05), Some(nesterov)),
            [
                [0.971_499_98, -1.943, 0.438_25, -0.076],
                [0.968_657_9, -1.973_515_7, 0.371_758_85, -0.107_712_19],
                [0.898_405_43, -1.973_963_1, 0.364_724_52, -0.045_120_373],
            ],
        ),
        (
            Rule::Adam(ADAM),
            [
                [0.900_01, -1.900_005, 0.400_003_34, -0.099_997_5],
                [0.905_272_6, -1.936_614, 0.302_972_26, -0.167_000_74],
                [0.849_218_9, -1.978_177_3, 0.268_401_06, -0.149_435_68],
            ],
        ),
        (
            Rule::Adam(Adam { amsgrad: true, weight_decay: Some(0.05), ..ADAM }),
            [
                [0.900_006_65, -1.900_003_3, 0.400_003_08, -0.099_997_5],
                [0.862_731_99, -1.906_092_4, 0.302_799_34, -0.166_037_11],
                [0.792_660_53, -1.911_498_2, 0.262_073_67, -0.147_384_57],
            ],
        ),
        (
            Rule::AdamW(ADAMW),
            [
                [0.899_999_98, -1.899_985, 0.399_998_34, -0.099_997_5],
                [0.905_253_59, -1.936_574_9, 0.302_963_26, -0.166_999_73],
                [0.849_190_83, -1.978_118_8, 0.268_389_02, -0.149_433],
            ],
        ),
        (
            Rule::AdamW(AdamW { weight_decay: 0.1, ..ADAMW }),
            [
                [0.890_01, -1.880_005, 0.395_003_35, -0.099_997_5],
                [0.886_372_51, -1.897_814, 0.294_022_26, -0.166_000_75],
                [0.821_455_12, -1.920_399_2, 0.256_510_85, -0.146_775_69],
            ],
        ),
        (
            Rule::AdamW(AdamW { weight_decay: 0.1, cautious_weight_decay: true, ..ADAMW }),
            [
                [0.890_01, -1.880_005, 0.395_003_35, -0.099_997_5],
                [0.895_272_61, -1.916_614_1, 0.294_022_26, -0.167_000_73],
                [0.830_266_18, -1.958_177_3, 0.256_510_82, -0.147_765_67],
            ],
        ),
        (
            adagrad(None, 0.0),
            [
                [0.900_01, -1.900_005, 0.400_003_34, -0.099_997_5],
                [0.970_715_64, -1.989_445_7, 0.344_534_87, -0.099_997_5],
                [0.880_265, -2.011_266_9, 0.393_040_84, -0.021_911_837],
            ],
        ),
        (
            adagrad(Some(0.05), 0.5),
            [
                [0.900_006_65, -1.900_003_3, 0.400_003_08, -0.099_997_5],
                [0.922_955_39, -1.947_530_6, 0.362_632_93, -0.099_164_27],
                [0.877_558_83, -1.947_837_2, 0.383_655_16, -0.059_972_89],
            ],
        ),
        (
            Rule::RmsProp(RMSPROP),
            [
                [0.000_998_497, -1.000_499_2, -0.499_667_29, -0.999_750_61],
                [-0.189_723_49, -0.996_071_7, -1.955_843_7, -1.899_526_1],
                [-1.266_866_2, -1.211_512_4, -2.778_293_6, -1.925_528],
            ],
        ),
        (
            Rule::RmsProp(RmsProp { centered: true, ..RMSPROP }),
            [
                [-0.004_029_274, -0.995_466_47, -0.504_701_73, -1.004_785_9],
                [-0.199_276_07, -0.987_425_57, -1.970_808_7, -1.909_093_1],
                [-1.284_202_7, -1.200_091_2, -2.800_951_5, -1.939_061_3],
            ],
        ),
        (
            Rule::RmsProp(RmsProp { centered: true, momentum: 0.0, ..RMSPROP }),
            [
                [-0.004_029_274, -0.995_466_47, -0.504_701_73, -1.004_785_9],
                [0.704_350_29, -1.891_505_7, -1.066_577_2, -1.004_785_9],
                [-0.204_854_19, -2.111_408_2, -0.577_223_72, -0.220_877_47],
            ],
        ),
        (
            Rule::Adan(ADAN),
            [
                [0.899_999_98, -1.9, 0.400_000_01, -0.100_000_02],
                [0.945_398_09, -1.956_644_4, 0.310_418_67, -0.101_643],
                [0.904_623_81, -1.989_200_8, 0.328_183_89, -0.050_297_774],
            ],
        ),
        (
            Rule::Adan(Adan { weight_decay: 0.1, ..ADAN }),
            [
                [0.891_089_08, -1.881_188_2, 0.396_039_61, -0.099_009_916],
                [0.927_215_04, -1.918_646_1, 0.303_424_03, -0.099_656_343],
                [0.877_664_15, -1.931_883_7, 0.318_009_17, -0.047_832_787],
            ],
        ),
        (
            Rule::Adan(Adan { weight_decay: 0.1, no_prox: true, ..ADAN }),
            [
                [0.889_999_99, -1.88, 0.395_000_01, -0.1],
                [0.926_498_12, -1.917_844_4, 0.301_468_67, -0.100_643],
                [0.876_458_88, -1.931_222_4, 0.316_219_21, -0.048_291_34],
            ],
        ),
        (Rule::Lion(LION), [[0.9, -1.9, 0.4, -0.1], [1.0, -2.0, 0.3, -0.2], [0.9, -2.1, 0.4, -0.1]]),
        (
            Rule::Lion(Lion { weight_decay: 0.1, ..LION }),
            [
                [0.89, -1.88, 0.395, -0.1],
                [0.981_1, -1.961_2, 0.291_05, -0.199],
                [0.871_289, -2.041_588, 0.388_139_52, -0.097_009_994],
            ],
        ),
    ]
}

fn slot(parameter: Value, gradient: Value) -> Slot {
    Slot { parameter, gradient, states: [const { None }; 4], time: 1, lr: 0.1 }
}

fn value(data: &[f32]) -> Value {
    Value::from_slice(data, &[data.len()]).unwrap()
}

#[test]
fn three_steps_of_every_rule_give_the_numbers_of_the_table() {
    for (rule, expected) in cases() {
        let tolerance = if matches!(rule, Rule::RmsProp(_)) { 1e-5 } else { 1e-6 };
        let mut slots = [slot(value(&THETA), value(&GRADIENTS[0]))];
        for (i, wanted) in expected.iter().enumerate() {
            slots[0].gradient = value(&GRADIENTS[i]);
            slots[0].time = i as u64 + 1;
            step(&rule, &mut slots).unwrap();
            let found = slots[0].parameter.as_slice::<f32>().unwrap();
            let near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < tolerance);
            assert!(near, "{rule:?}, step {}: {found:?}, expected {wanted:?}", i + 1);
        }
        assert_eq!(slots[0].states.iter().flatten().count(), rule.num_states());
    }
}

#[test]
fn a_parameter_is_updated_where_it_lies_only_if_nobody_else_holds_it() {
    let rule = Rule::Sgd(Sgd { weight_decay: None, momentum: None });
    let parameter = value(&THETA);
    let address = parameter.bytes().as_ptr();
    let mut slots = [slot(parameter, value(&GRADIENTS[0]))];
    step(&rule, &mut slots).unwrap();
    assert_eq!(slots[0].parameter.bytes().as_ptr(), address);
    let snapshot = slots[0].parameter.clone();
    let before = snapshot.as_slice::<f32>().unwrap().to_vec();
    step(&rule, &mut slots).unwrap();
    assert_ne!(slots[0].parameter.bytes().as_ptr(), address);
    assert_eq!(snapshot.as_slice::<f32>().unwrap(), before);
}

#[test]
fn many_small_and_large_parameters_get_what_each_alone_would() {
    let sizes = [1, 0, 3, 40_000, 16_384, 16_385, 7];
    let data = |n: usize, salt: usize| -> Vec<f32> {
        (0..n).map(|i| ((i * 37 + salt * 11) % 101) as f32 / 50.0 - 1.0).collect()
    };
    for (rule, _) in cases() {
        let make = |n: usize| slot(value(&data(n, 1)), value(&data(n, 2)));
        let mut together: Vec<Slot> = sizes.iter().map(|&n| make(n)).collect();
        step(&rule, &mut together).unwrap();
        for (slot, &n) in together.iter().zip(&sizes) {
            let mut alone = [make(n)];
            step(&rule, &mut alone).unwrap();
            assert_eq!(slot.parameter.as_slice::<f32>(), alone[0].parameter.as_slice::<f32>());
        }
    }
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let rule = Rule::Adam(ADAM);
    let good = || slot(value(&THETA), value(&GRADIENTS[0]));
    let mut state = good();
    state.states[1] = Some(value(&[0.0; 3]));
    let bad = [
        slot(value(&THETA), value(&[0.0; 3])),
        slot(value(&THETA), Value::zeros(&[4], burnpy_buffer::DType::F64).unwrap()),
        slot(
            Value::zeros(&[4], burnpy_buffer::DType::I32).unwrap(),
            Value::zeros(&[4], burnpy_buffer::DType::I32).unwrap(),
        ),
        state,
    ];
    for bad in bad {
        let mut slots = [good(), bad];
        assert!(step(&rule, &mut slots).is_err());
        assert_eq!(slots[0].parameter.as_slice::<f32>(), Some(&THETA[..]));
    }
}

#[test]
fn half_precision_is_rounded_after_every_operation() {
    use half::f16;
    let half = |data: &[f32]| {
        let data: Vec<f16> = data.iter().map(|&x| f16::from_f32(x)).collect();
        Value::from_slice(&data, &[data.len()]).unwrap()
    };
    let rule = Rule::Sgd(Sgd { weight_decay: None, momentum: None });
    let mut slots = [slot(half(&[1.0]), half(&[0.1]))];
    step(&rule, &mut slots).unwrap();
    let expected = f16::ONE - f16::from_f32(0.1) * f16::from_f32(0.1);
    assert_eq!(slots[0].parameter.as_slice::<f16>(), Some(&[expected][..]));
}
