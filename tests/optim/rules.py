"""All optimizers that serve modules, each with settings that use all of it, for tests that run over all of them."""

from burnpy.optim import (
    AdafactorConfig,
    AdaGradConfig,
    AdamConfig,
    AdamWConfig,
    AdanConfig,
    AdjustLrFn,
    GradientClippingConfig,
    LambConfig,
    LionConfig,
    MomentumConfig,
    MuonConfig,
    OptimizerConfig,
    RmsPropConfig,
    SgdConfig,
    WeightDecayConfig,
)

DECAY = WeightDecayConfig(0.05)

FUSED: dict[str, OptimizerConfig] = {
    "sgd": SgdConfig(),
    "sgd_decay": SgdConfig(weight_decay=DECAY),
    "sgd_momentum": SgdConfig(momentum=MomentumConfig()),
    "sgd_nesterov": SgdConfig(weight_decay=DECAY, momentum=MomentumConfig(nesterov=True)),
    "adam": AdamConfig(),
    "adam_decay": AdamConfig(weight_decay=DECAY, epsilon=1e-3),
    "adam_amsgrad": AdamConfig(weight_decay=DECAY, amsgrad=True),
    "adamw": AdamWConfig(weight_decay=0.1),
    "adamw_no_decay": AdamWConfig(weight_decay=0.0),
    "adamw_cautious": AdamWConfig(weight_decay=0.1, cautious_weight_decay=True),
    "adamw_amsgrad": AdamWConfig(weight_decay=0.1, amsgrad=True),
    "adagrad": AdaGradConfig(),
    "adagrad_decay": AdaGradConfig(weight_decay=DECAY, lr_decay=0.5),
    "rmsprop": RmsPropConfig(weight_decay=DECAY),
    "rmsprop_centered": RmsPropConfig(centered=True),
    "rmsprop_plain": RmsPropConfig(momentum=0.0),
    "rmsprop_centered_plain": RmsPropConfig(momentum=0.0, centered=True),
    "adan": AdanConfig(epsilon=1e-3),
    "adan_prox": AdanConfig(weight_decay=0.1, epsilon=1e-3),
    "adan_no_prox": AdanConfig(weight_decay=0.1, no_prox=True, epsilon=1e-3),
    "lion": LionConfig(),
    "lion_decay": LionConfig(weight_decay=0.1),
}

OTHERS: dict[str, OptimizerConfig] = {
    "adafactor": AdafactorConfig(),
    "adafactor_plain": AdafactorConfig(relative_step=False, scale_parameter=False, weight_decay=0.1),
    "lamb": LambConfig(epsilon=1e-3),
    "lamb_decay": LambConfig(weight_decay=0.1, epsilon=1e-3),
}

# Matrices alone.
MUON: dict[str, OptimizerConfig] = {
    "muon": MuonConfig(epsilon=1e-3),
    "muon_decay": MuonConfig(weight_decay=DECAY, epsilon=1e-3, adjust_lr_fn=AdjustLrFn.MatchRmsAdamW),
}

CLIPPED: dict[str, OptimizerConfig] = {
    "sgd_value": SgdConfig(gradient_clipping=GradientClippingConfig.Value(0.1)),
    "adam_norm": AdamConfig(grad_clipping=GradientClippingConfig.Norm(0.5)),
    "lamb_global_norm": LambConfig(grad_clipping=GradientClippingConfig.GlobalNorm(0.5)),
}

ALL = FUSED | OTHERS | CLIPPED
