"""Files of pieces.test: a sentence that a model learns by heart, rows and parallel texts, and XLNet's recipes on a small model.

usage: pieces.py FOLDER MODELS    MODELS: the repository's specifications
"""
import os
import sys

from words_model import words

SPEC = words(400) + """train Words as stream {
  bind      B = 4, T = 32
  data      = lm_blocks(text = "text.txt", model = "MODEL", held_out = 0.2)
  loss      = lm
  optimizer = adam(lr = 0.01)
  steps     = 150
}
train Words as words {
  bind      B = 4, T = 32
  data      = lm_blocks(text = "text.txt", model = "words.txt")
  loss      = lm
  optimizer = adam(lr = 0.01)
  steps     = 1
}
generate Words as sample { entry = step  method = greedy(limit = 12)  start = "the" }
model Copies {
  config V = 110, D = 16
  dim    B, S, T
  in     src: index(V)[B, S], tgt: index(V)[B, T], label: index(V)[B, T]
  param  emb: [V, D] ~ normal(0.1)
  loss   nll = mean(cross_entropy[V](dot[D](emb[V: tgt] + mean[S](emb[V: src]), emb), label))
}
train Copies as copies {
  bind      B = 4, S = 32, T = 32
  data      = translation(source = "source.txt", target = "source.txt", model = "t5.model")
  loss      = nll
  optimizer = adam(lr = 0.01)
  steps     = 2
}
train Copies as corrupted {
  bind      B = 4, S = 32, T = 10, V = 210
  data      = span_corruption(text = "text.txt", model = "t5.model", sentinels = 100, held_out = 0.2)
  loss      = nll
  optimizer = adam(lr = 0.01)
  steps     = 2
}
"""
SENTENCE = "the quick brown fox jumps over the lazy dog, it's nothing.\n"

folder, models = sys.argv[1:]


def write(name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


for name in ("t5", "llama"):
    write(f"{name}.tn", SPEC.replace("MODEL", f"{name}.model"))
write("text.txt", SENTENCE * 60)
write("words.txt", "the\nfox\n")
write("source.txt", SENTENCE * 8)
os.makedirs(os.path.join(folder, "corpus"))
os.makedirs(os.path.join(folder, "mnli"))
write("corpus/a.txt", SENTENCE * 200)
write("mnli/train.tsv", ("0\tthe fox\tjumps, 50\n1\tthe dog\tis lazy\n2\tit\tis\n" * 4))
with open(os.path.join(models, "xlnet.tn"), encoding="utf-8") as file:
    text = file.read()
small = "V = 92, D = 32, H = 2, F = 64, N = 2, "
large = ", D = 1024, H = 16, F = 4096, N = 24"
for wide, narrow in (("bind       B = 2048, T = 512, K = 85" + large, f"bind       {small}B = 4, T = 48, K = 6, M = 16, R = 16"),
                     ("bind       B = 128, M = 0, R = 0, C = 3", f"bind       {small}B = 4, T = 24, M = 0, R = 0, C = 3"),
                     ('  init       = load("xlnet-base-cased/model.safetensors", names = hf)\n', "  steps      = 4\n")):
    assert text.count(wide) == 1, wide
    text = text.replace(wide, narrow)
write("xlnet.tn", text)
