"""ELMo's scalar mixture, small enough to read and exact enough to trust.

`scalar_mix` and its gradients are exported here; everything else is imported from its module, and
whoever only wants to mix waits for numpy alone.
"""

import sys

# `python -m elmo_toy.check` has advice for machines without numpy or with a Python that lacks
# `orig_argv`. It imports this package first, which must not fail there.
_COMMAND = " ".join(getattr(sys, "orig_argv", ["-m", "elmo_toy.check"]))
if "-m elmo_toy.check" not in _COMMAND:
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
