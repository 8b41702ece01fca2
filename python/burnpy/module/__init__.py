"""Modules: what has parameters, and what finds, moves and changes them."""

from burnpy.errors import ParamGroupError
from burnpy.module.containers import ArrayModule, EnumModule
from burnpy.module.display import DisplaySettings
from burnpy.module.flag import Flag
from burnpy.module.group import ParamGroup
from burnpy.module.initializer import Initializer
from burnpy.module.module import Module
from burnpy.module.param import Param, Reparameterization
from burnpy.module.param_id import ParamId
from burnpy.module.running_state import RunningState
from burnpy.module.visitor import ModuleMapper, ModuleVisitor

__all__ = [
    "ArrayModule",
    "DisplaySettings",
    "EnumModule",
    "Flag",
    "Initializer",
    "Module",
    "ModuleMapper",
    "ModuleVisitor",
    "Param",
    "ParamGroup",
    "ParamGroupError",
    "ParamId",
    "Reparameterization",
    "RunningState",
]
