"""Optimizers: update rules, their configurations, gradients by parameter, clipping."""

from burnpy.optim.adafactor import Adafactor, AdafactorConfig, AdafactorState
from burnpy.optim.adagrad import AdaGrad, AdaGradConfig, AdaGradState
from burnpy.optim.adam import Adam, AdamConfig, AdamState
from burnpy.optim.adamw import AdamW, AdamWConfig, AdamWState
from burnpy.optim.adan import Adan, AdanConfig, AdanState
from burnpy.optim.adaptive_momentum import AdaptiveMomentumState
from burnpy.optim.decay import WeightDecay, WeightDecayConfig
from burnpy.optim.grad_clipping import GradientClipping, GradientClippingConfig
from burnpy.optim.gradients_accumulator import GradientsAccumulator
from burnpy.optim.gradients_params import GradientsParams
from burnpy.optim.lamb import Lamb, LambConfig, LambState
from burnpy.optim.lbfgs import LBFGS, LBFGSConfig, LineSearchFn
from burnpy.optim.lbfgs_iteration import LBFGSState
from burnpy.optim.lion import Lion, LionConfig, LionState
from burnpy.optim.module_optimizer import ModuleOptimizer
from burnpy.optim.momentum import Momentum, MomentumConfig, MomentumState
from burnpy.optim.multi_gradients_params import MultiGradientsParams
from burnpy.optim.muon import AdjustLrFn, Muon, MuonConfig, MuonState
from burnpy.optim.optimizer import Optimizer, OptimizerConfig
from burnpy.optim.rmsprop import RmsProp, RmsPropConfig, RmsPropState
from burnpy.optim.sgd import Sgd, SgdConfig, SgdState

__all__ = [
    "LBFGS",
    "AdaGrad",
    "AdaGradConfig",
    "AdaGradState",
    "Adafactor",
    "AdafactorConfig",
    "AdafactorState",
    "Adam",
    "AdamConfig",
    "AdamState",
    "AdamW",
    "AdamWConfig",
    "AdamWState",
    "Adan",
    "AdanConfig",
    "AdanState",
    "AdaptiveMomentumState",
    "AdjustLrFn",
    "GradientClipping",
    "GradientClippingConfig",
    "GradientsAccumulator",
    "GradientsParams",
    "LBFGSConfig",
    "LBFGSState",
    "Lamb",
    "LambConfig",
    "LambState",
    "LineSearchFn",
    "Lion",
    "LionConfig",
    "LionState",
    "ModuleOptimizer",
    "Momentum",
    "MomentumConfig",
    "MomentumState",
    "MultiGradientsParams",
    "Muon",
    "MuonConfig",
    "MuonState",
    "Optimizer",
    "OptimizerConfig",
    "RmsProp",
    "RmsPropConfig",
    "RmsPropState",
    "Sgd",
    "SgdConfig",
    "SgdState",
    "WeightDecay",
    "WeightDecayConfig",
]
