"""What is saved and loaded: five models of very different shape."""

from dataclasses import dataclass
from functools import cached_property

import ml_dtypes
import numpy as np

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Case:
    """Named shapes of one dtype; ``one`` is the tensor of the rows that read a single one."""

    key: str
    what: str
    shapes: dict[str, tuple[int, ...]]
    dtype: np.dtype
    one: str

    @property
    def num_bytes(self) -> int:
        return sum(self.byte_len(name) for name in self.shapes)

    @property
    def is_tiny(self) -> bool:
        """Bound by the cost of a tensor, not of a byte."""
        return self.num_bytes < 1024 * len(self.shapes)

    def byte_len(self, name: str) -> int:
        return int(np.prod(self.shapes[name])) * self.dtype.itemsize

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays as a user has them: allocated by NumPy, each of other values."""
        rng = np.random.default_rng(7)
        # The top exponent bit is off: every value is finite.
        block = rng.integers(0, 256, BLOCK_BYTES, dtype=np.uint8) & 0xBF
        return {name: self._filled(block, index, name) for index, name in enumerate(self.shapes)}

    def _filled(self, block: np.ndarray, index: int, name: str) -> np.ndarray:
        out = np.empty(self.byte_len(name), np.uint8)
        content = block[index * 64 % BLOCK_BYTES :]
        for start in range(0, len(out), len(content)):
            piece = out[start : start + len(content)]
            piece[:] = content[: len(piece)]
        return out.view(self.dtype).reshape(self.shapes[name])


def one_tensor(num_elements: int) -> Case:
    shapes = {"weight": (num_elements // 1024, 1024)}
    return Case("A", "one f32 tensor", shapes, np.dtype(np.float32), "weight")


def gpt2(hidden: int, vocabulary: int) -> Case:
    """GPT-2's layout; small is hidden = 768: 148 tensors, 124 M parameters."""
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (vocabulary, hidden), "wpe.weight": (1024, hidden)}
    for layer in range(12):
        block = {
            "ln_1": (hidden,),
            "attn.c_attn": (hidden, 3 * hidden),
            "attn.c_proj": (hidden, hidden),
            "ln_2": (hidden,),
            "mlp.c_fc": (hidden, 4 * hidden),
            "mlp.c_proj": (4 * hidden, hidden),
        }
        for name, shape in block.items():
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    shapes |= {"ln_f.weight": (hidden,), "ln_f.bias": (hidden,)}
    return Case("B", "GPT-2-like, f32", shapes, np.dtype(np.float32), "h.5.attn.c_proj.weight")


def llama(hidden: int, vocabulary: int) -> Case:
    """A 7B model's layout, 291 tensors, at a smaller width."""
    ff = hidden * 11008 // 4096
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (vocabulary, hidden)}
    for layer in range(32):
        prefix = f"model.layers.{layer}."
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            shapes[f"{prefix}self_attn.{name}.weight"] = (hidden, hidden)
        shapes[f"{prefix}mlp.gate_proj.weight"] = (ff, hidden)
        shapes[f"{prefix}mlp.up_proj.weight"] = (ff, hidden)
        shapes[f"{prefix}mlp.down_proj.weight"] = (hidden, ff)
        shapes[f"{prefix}input_layernorm.weight"] = (hidden,)
        shapes[f"{prefix}post_attention_layernorm.weight"] = (hidden,)
    shapes |= {"model.norm.weight": (hidden,), "lm_head.weight": (vocabulary, hidden)}
    one = "model.layers.16.mlp.up_proj.weight"
    return Case("C", "7B-style layout, bf16", shapes, np.dtype(ml_dtypes.bfloat16), one)


def many(key: str, count: int) -> Case:
    shapes = {f"group.{index % 100}.tensor.{index}": (16,) for index in range(count)}
    one = list(shapes)[count // 2]
    return Case(key, f"{count:,} tensors of 16 floats", shapes, np.dtype(np.float32), one)


def all_cases(*, quick: bool = False) -> dict[str, Case]:
    """The five cases by letter; ``quick`` ones only show that everything runs."""
    if quick:
        cases = [one_tensor(1 << 20), gpt2(64, 5000), llama(64, 3200), many("D", 200), many("E", 1000)]
    else:
        cases = [
            one_tensor(1 << 28),
            gpt2(768, 50257),
            llama(1600, 32000),
            many("D", 10_000),
            many("E", 100_000),
        ]
    return {case.key: case for case in cases}
