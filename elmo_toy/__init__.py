"""ELMo's scalar mixture, small enough to read and exact enough to trust.

`scalar_mix` and its gradients are exported here; everything else is imported from its module, and
whoever only wants to mix waits for numpy alone.
"""

from elmo_toy.layer_norm import LayerNorm
from elmo_toy.scalar_mix import (
    ScalarMix,
    ScalarMixGradients,
    logit_penalty,
    logit_penalty_gradient,
    scalar_mix,
    scalar_mix_gradients,
    softmax,
)

__version__ = "0.1.0"

__all__ = [
    "LayerNorm",
    "ScalarMix",
    "ScalarMixGradients",
    "logit_penalty",
    "logit_penalty_gradient",
    "scalar_mix",
    "scalar_mix_gradients",
    "softmax",
]
