"""The models whose initial values are compared with those of transformers: file, sizes for `tenon init`, the class and its
configuration, and what of the specification differs on purpose."""

# At these sizes a matrix has thousands of numbers: of both sides' deviations one percent is known.
ENCODER = {"vocab_size": 500, "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512,
           "max_position_embeddings": 64}
SIZES = {"V": 500, "D": 128, "N": 2, "L": 64}
TXL = {"vocab_size": 500, "d_model": 128, "d_embed": 128, "n_head": 2, "d_head": 64, "d_inner": 256, "n_layer": 2}
# google-research's code cuts its normal numbers at two deviations, and the specifications follow it; transformers does not cut.
CUT = True

# Differences that the specification states.
STATED = {("ernie2", "cls.predictions.transform.LayerNorm.bias")}  # 1, as in the Paddle code

MODELS = {
    "gpt2": ("gpt2.tn", SIZES, "GPT2LMHeadModel", "GPT2Config",
             {"vocab_size": 500, "n_embd": 128, "n_layer": 2, "n_head": 2, "n_positions": 64}, not CUT),
    "gpt1": ("gpt1.tn --model GPT1", SIZES, "OpenAIGPTLMHeadModel", "OpenAIGPTConfig",
             {"vocab_size": 500, "n_embd": 128, "n_layer": 2, "n_head": 2, "n_positions": 64}, not CUT),
    "bert": ("bert.tn", SIZES, "BertForPreTraining", "BertConfig", ENCODER, CUT),
    "roberta": ("roberta.tn", SIZES, "RobertaForMaskedLM", "RobertaConfig", {"type_vocab_size": 1, **ENCODER}, CUT),
    "nezha": ("nezha.tn", {"V": 500, "D": 128, "N": 2}, "NezhaForPreTraining", "NezhaConfig", ENCODER, CUT),
    "electra": ("electra.tn --model Electra", {"X": 64, **SIZES}, "ElectraForPreTraining", "ElectraConfig",
                {"embedding_size": 64, **ENCODER}, CUT),
    "ernie2": ("ernie2.tn", SIZES, "ErnieForPreTraining", "ErnieConfig",
               {"use_task_id": True, "task_type_vocab_size": 16, "type_vocab_size": 4, **ENCODER}, CUT),
    "xlnet": ("xlnet.tn", {"V": 500, "D": 128, "H": 2, "F": 256, "N": 2}, "XLNetLMHeadModel", "XLNetConfig",
              {"vocab_size": 500, "d_model": 128, "n_layer": 2, "n_head": 2, "d_inner": 256}, not CUT),
    "txl": ("transformer_xl.tn", {"V": 500, "D": 128, "H": 2, "F": 256, "N": 2}, "TransfoXLLMHeadModel", "TransfoXLConfig",
            {"cutoffs": [], "div_val": 1, **TXL}, not CUT),
    "txl_adaptive": ("transformer_xl_adaptive.tn",
                     {"V0": 100, "V1": 100, "V2": 100, "V3": 200, "D": 128, "H": 2, "F": 256, "N": 2},
                     "TransfoXLLMHeadModel", "TransfoXLConfig", {"cutoffs": [100, 200, 300], "div_val": 4, **TXL}, not CUT),
    "llama": ("llama.tn", {"V": 500, "D": 256, "E": 128, "K": 2, "F": 300, "N": 2}, "LlamaForCausalLM", "LlamaConfig",
              {"vocab_size": 500, "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 300},
              not CUT),
    "mpt": ("alibi.tn", {"V": 500, "D": 128, "H": 4, "N": 2}, "MptForCausalLM", "MptConfig",
            {"vocab_size": 500, "d_model": 128, "n_heads": 4, "n_layers": 2}, not CUT),
    "t5": ("t5.tn", {"V": 500, "D": 128, "H": 4, "E": 32, "F": 256, "N": 2}, "T5ForConditionalGeneration", "T5Config",
           {"vocab_size": 500, "d_model": 128, "d_kv": 32, "num_heads": 4, "d_ff": 256, "num_layers": 2}, not CUT),
    "t5_gated": ("t5.tn", {"V": 500, "D": 128, "H": 4, "E": 32, "F": 256, "N": 2, "Feed": "Gated", "tied": "false"},
                 "T5ForConditionalGeneration", "T5Config",
                 {"vocab_size": 500, "d_model": 128, "d_kv": 32, "num_heads": 4, "d_ff": 256, "num_layers": 2,
                  "tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"}, not CUT),
    "moe": ("moe.tn", {"V": 500, "D": 256, "E": 128, "K": 2, "F": 300, "X": 4, "N": 2}, "MixtralForCausalLM", "MixtralConfig",
            {"vocab_size": 500, "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
             "intermediate_size": 300, "num_local_experts": 4}, not CUT),
    # mamba_ssm's values, which the class has with these settings; 4.40.2 looks for `num_layers`, which its configuration lacks.
    "mamba": ("mamba.tn", {"V": 500, "D": 128, "N": 2}, "MambaForCausalLM", "MambaConfig",
              {"vocab_size": 500, "hidden_size": 128, "num_hidden_layers": 2, "initializer_range": 0.02,
               "rescale_prenorm_residual": True, "num_layers": 2}, not CUT),
    "vit": ("vit.tn", {"D": 128, "N": 2}, "ViTForImageClassification", "ViTConfig",
            {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512, "num_labels": 1000},
            CUT),
}
