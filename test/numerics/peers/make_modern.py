"""Public implementations of today's families."""
import torch
import transformers
from torch.nn import functional as F
from transformers.models.mixtral import modeling_mixtral


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


def t5(case):
    at = sizes(case)
    config = transformers.T5Config(
        vocab_size=at["V"], d_model=at["D"], d_kv=at["E"], d_ff=at["F"], num_layers=at["N"], num_heads=at["H"], dropout_rate=0,
        feed_forward_proj="gated-gelu" if "Feed" in at else "relu", tie_word_embeddings=at.get("tied", True),
        decoder_start_token_id=0)

    def compute(module, given, _):
        seen = (torch.arange(given["src"].shape[1]) < given["src_len"][:, None]).double()
        found = module(input_ids=given["src"], attention_mask=seen, decoder_input_ids=given["tgt"])
        loss = F.cross_entropy(found.logits.flatten(0, 1), given["label"].flatten(), ignore_index=0)
        return loss, {"logits": found.logits, "memory": found.encoder_last_hidden_state}, None
    return transformers.T5ForConditionalGeneration(config), compute


def moe(case):
    at = sizes(case)
    config = transformers.MixtralConfig(
        vocab_size=at["V"], hidden_size=at["D"], intermediate_size=at["F"], num_hidden_layers=at["N"],
        num_attention_heads=at["D"] // at["E"], num_key_value_heads=at["K"], max_position_embeddings=at["L"], rms_norm_eps=1e-5,
        rope_theta=1e6, num_local_experts=at["X"], num_experts_per_tok=2, output_router_logits=True, sliding_window=None,
        attn_implementation="eager")

    def compute(module, given, _):
        found = module(input_ids=given["ids"])
        each = modeling_mixtral.load_balancing_loss_func(found.router_logits, at["X"], 2)
        loss = F.cross_entropy(found.logits.flatten(0, 1), given["target"].flatten())
        return loss + 0.02 * each, {"logits": found.logits}, None
    return transformers.MixtralForCausalLM(config), compute


def mamba(at):
    return transformers.MambaConfig(vocab_size=at["V"], hidden_size=at["D"], state_size=at["Z"], num_hidden_layers=at["N"],
                                    intermediate_size=at["I"], expand=at["I"] / at["D"], time_step_rank=at["R"])


MODELS = {"t5": t5, "t5_gated": t5, "moe": moe, "mamba": next_symbol(transformers.MambaForCausalLM, mamba),
          **{name: next_symbol(transformers.LlamaForCausalLM, llama) for name in ("llama", "llama_tied")},
          "alibi": next_symbol(transformers.MptForCausalLM, mpt), "vit": vit}
