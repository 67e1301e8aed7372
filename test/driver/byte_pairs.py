"""Files of byte-pairs.test: one sentence again and again, which a model learns by heart, and pairs of it."""
import json
import os
import sys

from words_model import words

SPEC = words(512) + """model Masked {
  config V = 512, D = 16
  dim    B, T, K
  in     ids: index(V)[B, T], at: index(T)[B, K], word: index(V)[B, K], weight: [B, K]
  param  emb: [V, D] ~ normal(0.1)
  let    logits = dot[D](emb[V: ids][T: at], emb)
  loss   mlm = sum(cross_entropy[V](logits, word) * weight) / max(sum(weight), 1)
}
model Pairs {
  config V = 512, D = 16, C = 2
  dim    B, T
  in     ids: index(V)[B, T], label: index(C)[B]
  param  emb: [V, D] ~ normal(0.1)
  use    head = Linear[D -> C]
  loss   ce = mean(cross_entropy[C](head(mean[T](emb[V: ids])), label))
}
train Words as stream {
  bind      B = 4, T = 32
  data      = lm_blocks(text = "text.txt", vocab = "vocab.json", merges = "mine/pairs.txt", held_out = 0.2)
  loss      = lm
  optimizer = adam(lr = 0.01)
  steps     = 150
}
generate Words as sample { entry = step  method = greedy(limit = 12)  start = "the" }
train Masked as masked {
  bind      B = 4, T = 32, K = 6
  data      = mlm_blocks(text = "text.txt", vocab = "vocab.json", merges = "merges.txt")
  loss      = mlm
  optimizer = adam(lr = 0.01)
  steps     = 2
}
train Pairs as pairs {
  bind      B = 4, T = 32
  data      = pairs(file = "pairs.tsv", vocab = "vocab.json", form = "<s> a </s></s> b </s>")
  loss      = ce
  optimizer = adam(lr = 0.01)
  steps     = 2
}
"""
SENTENCE = "the quick brown fox jumps over the lazy dog, it's nothing.\n"

folder = sys.argv[2]
PAIRS = "0\tthe fox\tjumps\n1\tthe dog\tis lazy\n"
for name, text in (("chars.tn", SPEC), ("text.txt", SENTENCE * 60), ("pairs.tsv", PAIRS * 8)):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)

# GPT-1's tasks: its vocabulary and three symbols more, by the recipe of its file on a small model.
tokenizer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tokenizers", "gpt1")
os.makedirs(os.path.join(folder, "gpt1"))
with open(os.path.join(tokenizer, "vocab.json"), encoding="utf-8") as file:
    symbols = json.load(file)
symbols |= {mark: len(symbols) + place for place, mark in enumerate(("[start]", "[delim]", "[extract]"))}
ROWS = "0\tthe fox\tjumps\n1\tthe dog\tis lazy\n2\tit\tis\n"
for name, text in (("vocab.json", json.dumps(symbols)), ("entail.tsv", ROWS * 4)):
    with open(os.path.join(folder, "gpt1", name), "w", encoding="utf-8") as file:
        file.write(text)
with open(sys.argv[3], encoding="utf-8") as file:
    text = file.read()
small = f"B = 4, C = 3, V = {len(symbols)}, D = 32, E = 16, N = 1, L = 16, T = 16"
text = text.replace("bind       B = 32, T = 512, C = 3", "bind " + small)
lines = [line for line in text.split("\n") if "load(\"openai-gpt" not in line]
with open(os.path.join(folder, "gpt1", "gpt1.tn"), "w", encoding="utf-8") as file:
    file.write("\n".join(lines).replace("snli/train.tsv", "entail.tsv"))
