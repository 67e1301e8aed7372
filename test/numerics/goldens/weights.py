"""Weights of the golden cases: a formula of the public name, and the names that the public implementations give."""
import array
import functools
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from tensors import Tensor, count  # noqa: E402

NORM = re.compile(r"(LayerNorm|layer_norm|ln_1|ln_2|ln_f|norm\d*|norm\.\d+|bn\d*|downsample\.1)\.weight$")


def filled(name, shape, amplitude=0.5):
    """amplitude sin(0.37 k + sum of the name's bytes mod 97), and 1 more for the scales of norms."""
    return Tensor("f64", shape, _values(name, count(shape), amplitude))


@functools.cache
def _values(name, number, amplitude):
    """Once for all tiers; a tensor has a copy."""
    phase = sum(name.encode()) % 97
    one = 1.0 if NORM.search(name) else 0.0
    return array.array("d", (amplitude * math.sin(0.37 * k + phase) + one for k in range(number)))


def norm(name, width):
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def linear(name, inputs, outputs, bias=True):
    return {f"{name}.weight": (outputs, inputs), **({f"{name}.bias": (outputs,)} if bias else {})}


def gpt2_names(V, D, F, N, L):
    names = {"transformer.wte.weight": (V, D), "transformer.wpe.weight": (L, D), **norm("transformer.ln_f", D)}
    for n in range(N):
        at = f"transformer.h.{n}."
        names.update(norm(at + "ln_1", D) | norm(at + "ln_2", D))
        for part, inputs, outputs in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, F), ("mlp.c_proj", F, D)):
            names.update({f"{at}{part}.weight": (inputs, outputs), f"{at}{part}.bias": (outputs,)})
    return names


def bert_names(V, D, F, N, L):
    names = {"bert.embeddings.word_embeddings.weight": (V, D), "bert.embeddings.position_embeddings.weight": (L, D),
             "bert.embeddings.token_type_embeddings.weight": (2, D), **norm("bert.embeddings.LayerNorm", D)}
    for n in range(N):
        at = f"bert.encoder.layer.{n}."
        for part in ("query", "key", "value"):
            names.update(linear(at + "attention.self." + part, D, D))
        names.update(linear(at + "attention.output.dense", D, D) | norm(at + "attention.output.LayerNorm", D))
        names.update(linear(at + "intermediate.dense", D, F) | linear(at + "output.dense", F, D) |
                     norm(at + "output.LayerNorm", D))
    names.update(linear("bert.pooler.dense", D, D) | linear("cls.predictions.transform.dense", D, D))
    names.update(norm("cls.predictions.transform.LayerNorm", D) | linear("cls.seq_relationship", D, 2))
    return names | {"cls.predictions.bias": (V,)}


def xlnet_names(V, D, H, F, N):
    names = {"transformer.word_embedding.weight": (V, D), "transformer.mask_emb": (1, 1, D), "lm_loss.bias": (V,)}
    for n in range(N):
        at = f"transformer.layer.{n}."
        names.update({f"{at}rel_attn.{part}": (D, H, D // H) for part in "qkvro"})
        names.update({f"{at}rel_attn.{part}": (H, D // H) for part in ("r_w_bias", "r_r_bias", "r_s_bias")})
        names.update({at + "rel_attn.seg_embed": (2, H, D // H)} | norm(at + "rel_attn.layer_norm", D))
        names.update(linear(at + "ff.layer_1", D, F) | linear(at + "ff.layer_2", F, D) | norm(at + "ff.layer_norm", D))
    return names


def transformer_xl_names(V, D, H, F, N):
    names = {"transformer.word_emb.emb_layers.0.weight": (V, D), "crit.out_layers.0.bias": (V,)}
    names.update({f"transformer.r_{part}_bias": (H, D // H) for part in "wr"})
    for n in range(N):
        at = f"transformer.layers.{n}."
        for part, rows in (("qkv_net", 3 * D), ("r_net", D), ("o_net", D)):
            names.update(linear(at + "dec_attn." + part, D, rows, bias=False))
        names.update(norm(at + "dec_attn.layer_norm", D) | norm(at + "pos_ff.layer_norm", D))
        names.update(linear(at + "pos_ff.CoreNet.0", D, F) | linear(at + "pos_ff.CoreNet.3", F, D))
    return names
