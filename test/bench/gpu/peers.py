"""Forms of Transformer-XL's attention in PyTorch. q [B, T, H, E], k and v [B, S, H, E], r [S, H, E] by distance, 0 first, u and w
[H, E]; hidden [T, S]."""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peer"))
from transformer_xl import rel_shift, relative_attention  # noqa: E402


def eager(q, k, v, r, u, w, hidden):
    return relative_attention(q, k, v, r.flip(0), u, w, hidden)


def position_scores(q, r, w):
    """[B, H, T, S]"""
    return rel_shift(torch.matmul((q + w).transpose(1, 2), r.flip(0).permute(1, 2, 0))) * q.size(-1) ** -0.5


def with_bias(q, k, v, r, u, w, hidden):
    """Position scores as the mask of scaled_dot_product_attention."""
    bias = position_scores(q, r, w).masked_fill(hidden, float("-inf"))
    return torch.nn.functional.scaled_dot_product_attention((q + u).transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                                            attn_mask=bias).transpose(1, 2)


def flexible():
    """FlexAttention; the product of queries and distances is a captured tensor, read at the distance."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    masks = {}

    def attend(q, k, v, r, u, w, hidden):
        memory = k.size(1) - q.size(1)
        if not masks:
            masks[0] = create_block_mask(lambda b, h, i, j: j <= memory + i, None, None, q.size(1), k.size(1), device=q.device)
        by_distance = torch.matmul((q + w).transpose(1, 2), r.permute(1, 2, 0)) * q.size(-1) ** -0.5  # [B, H, T, S]

        def score(value, b, h, i, j):
            return value + by_distance[b, h, i, torch.clamp(memory + i - j, min=0)]

        return flex_attention((q + u).transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), score_mod=score,
                              block_mask=masks[0]).transpose(1, 2)
    return attend


def relative_forms(compiled):
    forms = {"eager": eager, "SDPA with a bias": with_bias}
    if compiled:
        forms |= {"compiled": torch.compile(eager), "SDPA with a bias, compiled": torch.compile(with_bias),
                  "FlexAttention": torch.compile(flexible())}
    return forms
