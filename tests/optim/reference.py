"""The rules once more, in NumPy and double precision, as plainly as they can be written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy.optim import (
    AdafactorConfig,
    AdaGradConfig,
    AdamConfig,
    AdamWConfig,
    AdanConfig,
    LambConfig,
    LionConfig,
    MuonConfig,
    RmsPropConfig,
    SgdConfig,
)

Array = NDArray[Any]
Memory = dict[str, Any]


def step(config: Any, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    """The parameter after a step; what is remembered is kept in ``memory``, which is empty at first."""
    memory["t"] = memory.get("t", 0) + 1
    decay = config.weight_decay
    if decay is not None and not isinstance(decay, float) and not isinstance(config, MuonConfig):
        g = g + decay.penalty * theta
    new: Array = _RULES[type(config)](config, lr, theta, g, memory)
    return new


def _mean(memory: Memory, name: str, beta: float, value: Array) -> Array:
    """A running mean that begins at zero."""
    memory[name] = memory.get(name, 0.0) * beta + value * (1 - beta)
    mean: Array = memory[name]
    return mean


def _velocity(momentum: Any, g: Array, memory: Memory) -> Array:
    if momentum is None:
        return g
    first = "v" not in memory
    memory["v"] = g if first else memory["v"] * momentum.momentum + g * (1 - momentum.dampening)
    v: Array = memory["v"]
    return v * momentum.momentum + g if momentum.nesterov else v


def _sgd(config: SgdConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    return theta - lr * _velocity(config.momentum, g, memory)


def _adam(config: Any, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    m, v = _mean(memory, "m", config.beta_1, g), _mean(memory, "v", config.beta_2, g * g)
    if getattr(config, "amsgrad", False):
        v = memory["top"] = np.maximum(memory.get("top", v), v)
    first, second = m / (1 - config.beta_1 ** memory["t"]), v / (1 - config.beta_2 ** memory["t"])
    update: Array = first / (np.sqrt(second) + config.epsilon)
    if isinstance(config, LambConfig):
        update = update + config.weight_decay * theta
        return theta - lr * float(np.linalg.norm(theta) / np.linalg.norm(update)) * update
    if isinstance(config, AdamWConfig):
        keeps = config.cautious_weight_decay & ((theta >= 0) != (m >= 0))
        theta = theta - np.where(keeps, 0.0, lr * config.weight_decay * theta)
    return theta - lr * update


def _adagrad(config: AdaGradConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    memory["s"] = memory.get("s", 0.0) + g * g
    rate = lr / (1 + (memory["t"] - 1) * config.lr_decay)
    new: Array = theta - rate * g / (np.sqrt(memory["s"]) + config.epsilon)
    return new


def _rmsprop(config: RmsPropConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    v = _mean(memory, "s", config.alpha, g * g)
    if config.centered:
        v = v - _mean(memory, "a", config.alpha, g) ** 2
    q: Array = g / (np.sqrt(v) + config.epsilon)
    b: Array = memory.get("b", 0.0) * config.momentum + q
    memory["b"] = b
    return theta - lr * b


def _adan(config: AdanConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    change = g - memory.get("g", g)
    memory["g"] = g
    m = _mean(memory, "m", config.beta_1, g)
    d = _mean(memory, "d", config.beta_2, change)
    n = _mean(memory, "n", config.beta_3, (g + config.beta_2 * change) ** 2)
    t = memory["t"]
    below = np.sqrt(n / (1 - config.beta_3**t)) + config.epsilon
    update = (m / (1 - config.beta_1**t) + config.beta_2 * d / (1 - config.beta_2**t)) / below
    decay = lr * config.weight_decay
    new: Array = theta * (1 - decay) - lr * update if config.no_prox else (theta - lr * update) / (1 + decay)
    return new


def _lion(config: LionConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    m = memory.get("m", 0.0)
    memory["m"] = m * config.beta_2 + g * (1 - config.beta_2)
    new: Array = theta * (1 - lr * config.weight_decay) - lr * np.sign(
        m * config.beta_1 + g * (1 - config.beta_1)
    )
    return new


def _adafactor(config: AdafactorConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    t, square = memory["t"], g * g + config.epsilon_1
    beta = 1 - float(t) ** config.decay_rate
    if g.ndim < 2:
        update = g / np.sqrt(_mean(memory, "r", beta, square))
    else:
        r = _mean(memory, "r", beta, square.mean(-1, keepdims=True))
        c = _mean(memory, "c", beta, square.mean(-2, keepdims=True))
        update = g / np.sqrt(r * c / r.mean(-2, keepdims=True))
    update = update / max(1.0, _rms(update) / config.clip_threshold)
    if config.scale_parameter:
        update = update * max(_rms(theta), config.epsilon_2)
    rate = min(lr, 1 / np.sqrt(t)) if config.relative_step else lr
    new: Array = theta * (1 - lr * config.weight_decay) - rate * update
    return new


def _rms(x: Array) -> float:
    return float(np.sqrt((x * x).mean()))


def _muon(config: MuonConfig, lr: float, theta: Array, g: Array, memory: Memory) -> Array:
    x = _velocity(config.momentum, g, memory)
    x = x / max(float(np.linalg.norm(x)), config.epsilon)
    a, b, c = config.ns_coefficients
    for _ in range(config.ns_steps):
        # The same for the matrix and its transpose.
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    decay = 0.0 if config.weight_decay is None else config.weight_decay.penalty
    rows, cols = theta.shape
    match = config.adjust_lr_fn.value == "MatchRmsAdamW"
    ratio = 0.2 * np.sqrt(max(rows, cols)) if match else np.sqrt(max(1.0, rows / cols))
    new: Array = theta * (1 - lr * decay) - lr * ratio * x
    return new


_RULES: dict[type, Any] = {
    SgdConfig: _sgd,
    AdamConfig: _adam,
    AdamWConfig: _adam,
    AdaGradConfig: _adagrad,
    RmsPropConfig: _rmsprop,
    AdanConfig: _adan,
    LionConfig: _lion,
    AdafactorConfig: _adafactor,
    LambConfig: _adam,
    MuonConfig: _muon,
}
