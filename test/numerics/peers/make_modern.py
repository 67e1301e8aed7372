"""Public implementations of today's families."""
import transformers
from torch.nn import functional as F


def sizes(case):
    return {**case.dims, **case.configs}


def next_symbol(kind, config):
    """`config` of the sizes; logits and the loss of the next symbol."""
    def build(case):
        def compute(module, given, _):
            logits = module(input_ids=given["ids"]).logits
            return F.cross_entropy(logits.flatten(0, 1), given["target"].flatten()), {"logits": logits}, None
        return kind(config(sizes(case))), compute
    return build


def llama(at):
    heads = at["D"] // at["E"]
    return transformers.LlamaConfig(
        vocab_size=at["V"], hidden_size=at["D"], intermediate_size=at["F"], num_hidden_layers=at["N"], num_attention_heads=heads,
        num_key_value_heads=at.get("K", heads), max_position_embeddings=at["L"], rms_norm_eps=at.get("eps", 1e-5),
        rope_theta=at.get("theta", 1e4), tie_word_embeddings=at.get("tied", False), attn_implementation="eager")


def mpt(at):
    return transformers.MptConfig(vocab_size=at["V"], d_model=at["D"], n_heads=at["H"], n_layers=at["N"], max_seq_len=64)


def vit(case):
    at = sizes(case)
    config = transformers.ViTConfig(
        image_size=(at["Y"], at["X"]), patch_size=at["P"], num_channels=at["C"], hidden_size=at["D"], num_hidden_layers=at["N"],
        num_attention_heads=at["D"] // at["E"], intermediate_size=at["F"], hidden_dropout_prob=0, attention_probs_dropout_prob=0,
        num_labels=at["K"])

    def compute(module, given, _):
        found = module(pixel_values=given["image"], output_hidden_states=True)
        h = module.vit.layernorm(found.hidden_states[-1])
        return F.cross_entropy(found.logits, given["label"]), {"logits": found.logits, "h": h}, None
    return transformers.ViTForImageClassification(config), compute


MODELS = {"llama": next_symbol(transformers.LlamaForCausalLM, llama), "llama_tied": next_symbol(transformers.LlamaForCausalLM, llama),
          "alibi": next_symbol(transformers.MptForCausalLM, mpt), "vit": vit}
