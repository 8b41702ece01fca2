"""Configurations of a user's own, as the golden files of Burn have them."""

from burnpy.config import F32, KW_ONLY, Config, NonNegative, Variants
from burnpy.lr_scheduler import LrSchedulerConfig
from burnpy.nn import LayerNormConfig, LinearConfig
from burnpy.optim import AdamWConfig


class Task(Variants):
    pass


class Plain(Task, of=Task):
    pass


class Classes(Task, of=Task):
    value: NonNegative


class Named(Task, of=Task):
    title: str
    weight: F32


class UserModelConfig(Config):
    input: LinearConfig
    activation_name: str
    _: KW_ONLY
    norm: LayerNormConfig | None = None
    hidden: tuple[NonNegative, ...] = (8, 16)
    dropout: float = 0.5


class UserTrainingConfig(Config):
    model: UserModelConfig
    optimizer: AdamWConfig
    scheduler: LrSchedulerConfig
    task: Task
    _: KW_ONLY
    comment: str | None = None
    label: Task | None = None
    num_epochs: NonNegative = 10
    batch_size: NonNegative = 64
    seed: NonNegative = 42
    learning_rate: float = 1e-4
    shuffle: bool = True
    betas: tuple[F32, float] = (0.9, 0.25)
    patience: NonNegative | None = 3


class NumbersConfig(Config):
    small_f32: F32
    large_f32: F32
    third_f32: F32
    third_f64: float
    whole_f32: F32
    whole_f64: float
    tiny_f64: float
    huge_f64: float
    negative_zero: float
    not_a_number: float
    infinite: float
    signed: int
    unsigned: NonNegative
    text: str
    list: list[F32]
    array: tuple[NonNegative, NonNegative, NonNegative]
    _: KW_ONLY
    optional: F32 | None = None


class FloatsConfig(Config):
    f32s: list[F32]
    f64s: list[float]
