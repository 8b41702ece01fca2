"""Modules: what has parameters, and what finds, moves and changes them."""

from burnpy.errors import ParamGroupError
from burnpy.module.containers import ArrayModule, EnumModule
from burnpy.module.display import DisplaySettings
from burnpy.module.flag import Flag
from burnpy.module.group import ParamGroup
from burnpy.module.initializer import Initializer
from burnpy.module.lora import Lora, LoraAdapter, QLora
from burnpy.module.module import Module
from burnpy.module.param import Param
from burnpy.module.param_id import ParamId
from burnpy.module.quantizer import Calibration, Quantizer
from burnpy.module.reparameterization import Reparameterization, Reparameterizer
from burnpy.module.running_state import RunningState
from burnpy.module.steps import between_steps
from burnpy.module.visitor import ModuleMapper, ModuleVisitor

__all__ = [
    "ArrayModule",
    "Calibration",
    "DisplaySettings",
    "EnumModule",
    "Flag",
    "Initializer",
    "Lora",
    "LoraAdapter",
    "Module",
    "ModuleMapper",
    "ModuleVisitor",
    "Param",
    "ParamGroup",
    "ParamGroupError",
    "ParamId",
    "QLora",
    "Quantizer",
    "Reparameterization",
    "Reparameterizer",
    "RunningState",
    "between_steps",
]
