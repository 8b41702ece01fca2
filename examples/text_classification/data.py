"""Small talk about restaurants, made from a few words: is the guest pleased?

Words alone do not tell: "the soup was not bad" pleases, "never was the fish good" does not.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from burnpy import Device, Tensor
from burnpy.nn.attention import generate_padding_mask

THINGS = ["soup", "bread", "fish", "salad", "coffee", "service", "music", "garden", "waiter", "price", "view"]
GOOD = ["good", "great", "lovely", "fresh", "perfect", "kind"]
BAD = ["bad", "awful", "cold", "dull", "sour", "rude"]
PLAIN = ["the {thing} was {word}", "we found the {thing} {word}", "what a {word} {thing} that was"]
TURNED = [
    "the {thing} was not {word}",
    "never was the {thing} {word}",
    "nobody would call the {thing} {word}",
]
TAILS = ["", "today", "as we told our friends", "and the {other} was there too", "says my sister"]
PAD, UNKNOWN = 0, 1

Item = tuple[str, int]


def sentences(count: int, seed: int) -> list[Item]:
    """Sentences, and 1 where the guest is pleased."""
    draw = random.Random(seed)
    return [_sentence(draw) for _ in range(count)]


def _sentence(draw: random.Random) -> Item:
    turned, good = draw.random() < 0.5, draw.random() < 0.5
    pattern = f"{draw.choice(TURNED if turned else PLAIN)} {draw.choice(TAILS)}".strip()
    thing, other = draw.sample(THINGS, 2)
    text = pattern.format(thing=thing, other=other, word=draw.choice(GOOD if good else BAD))
    return text, int(good != turned)


class Tokenizer:
    """Words to numbers; 0 is padding, 1 a word that was never seen."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = sorted({word for text in texts for word in text.split()})
        self._numbers = {word: number for number, word in enumerate(words, 2)}

    def __len__(self) -> int:
        return len(self._numbers) + 2

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words."""
        return [self._numbers.get(word, UNKNOWN) for word in text.lower().split()]


@dataclass
class Batch:
    """Tokens ``(N, words)``, which of them are padding, and labels ``(N,)``."""

    tokens: Tensor
    padding: Tensor
    labels: Tensor


@dataclass
class Batcher:
    """Makes a batch as long as its longest sentence."""

    tokenizer: Tokenizer
    longest: int

    def batch(self, items: Sequence[Item], device: Device) -> Batch:
        """The items as tensors."""
        encoded = [self.tokenizer.encode(text)[: self.longest] for text, _ in items]
        tokens, padding = generate_padding_mask(PAD, encoded, device=device)
        return Batch(tokens, padding, Tensor.from_ints([label for _, label in items], device))
