"""The formulas of the slides and sheets, each written once: `{{formula_softmax}}` in a source.

What is a digit in a formula, the 1 of a sigmoid say, is no result, so it may stand here.
Book: chapters 3 and 4.
"""

from collections.abc import Mapping
from types import MappingProxyType

FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "formula_softmax": r"s_j = \frac{e^{a_j}}{\sum_i e^{a_i}}",
        "formula_mixture": r"e_k = \gamma \sum_j s_j\, h_{k,j}",
        "formula_layer_score": r"c_{k,j} = w^\top h_{k,j}",
        "formula_mixed_score": r"m_k = \sum_j s_j\, c_{k,j}",
        "formula_score": r"z_k = w^\top e_k = \gamma\, m_k",
        "formula_sigmoid": r"p_k = \sigma(z_k) = \frac{1}{1 + e^{-z_k}}",
        "formula_loss_one": r"\ell_k = -y_k \log p_k - (1 - y_k) \log (1 - p_k)",
        "formula_loss": r"\mathcal{L} = \tfrac{1}{2} (\ell_{\text{river}} + \ell_{\text{loan}})",
        "formula_by_score": r"\frac{\partial\mathcal{L}}{\partial z_k} = \tfrac{1}{2} (p_k - y_k)",
        "formula_jacobian": r"\frac{\partial s_i}{\partial a_j} = s_i\, (\mathbb{1}_{i=j} - s_j)",
        "formula_score_by_logit": (r"\frac{\partial z}{\partial a_j} = \gamma\, s_j\, (c_j - m)"),
        "formula_by_logit": (
            r"\frac{\partial\mathcal{L}}{\partial a_j} = "
            r"\sum_k \frac{\partial\mathcal{L}}{\partial z_k}\, \gamma\, s_j\, (c_{k,j} - m_k)"
        ),
        "formula_by_gamma": (
            r"\frac{\partial\mathcal{L}}{\partial \gamma} = "
            r"\sum_k \frac{\partial\mathcal{L}}{\partial z_k}\, m_k"
        ),
        "formula_logit_sum": r"\sum_j \frac{\partial\mathcal{L}}{\partial a_j} = 0",
        "formula_step": (
            r"a' = a - \eta\, \frac{\partial\mathcal{L}}{\partial a}, \qquad "
            r"\gamma' = \gamma - \eta\, \frac{\partial\mathcal{L}}{\partial \gamma}"
        ),
        "formula_unseen": r"\sum_j n_j\, c_{k,j} = 0 \text{ for every } k",
        "formula_head_unseen": r"g_j(t) = s_j + t\, n_j",
        "formula_other": r"1 - p",
        "formula_minus_log_p": r"-\log p",
        "formula_minus_log_other": r"-\log (1 - p)",
    }
)
