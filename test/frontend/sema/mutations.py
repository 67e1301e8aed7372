"""Mistakes that a spec's author really makes, seeded into the sample specs: each is refused at its place, with its code.

Usage: mutations.py FOLDER-OF-SPECS SCRATCH-FOLDER. Expected: "FILE:LINE:COLUMN CODE" of every mistake reported.
"""
import os
import subprocess
import sys

# (spec, text, what it is replaced by, expected)
MUTATIONS = [
    ('bert.tn', 'h[T: at], bert.word', 'h, bert.word', ['bert_changed.tn:68:54 T0218']),
    ('bert.tn', 'sees)\n}', 'iota[T]() > 0)\n}', ['bert_changed.tn:14:11 T0502']),
    ('bert.tn', 'mask  sees', 'mask  wq(x)', ['bert_changed.tn:14:11 T0502']),
    ('bert.tn', 'position[L: place]', 'position[V: place]', ['bert_changed.tn:38:54 T0201']),
    ('bert.tn', 'h[T: 0]', 'h', ['bert_changed.tn:69:51 T0218']),
    ('bert.tn', '= Encoder[T, S, D, V](', '= Encoder[T, S, V, D](', ['bert_changed.tn:62:19 T0207']),
    ('bert.tn', 'Body = Body)', 'Boby = Body)', ['bert_changed.tn:58:58 T0106']),
    ('bert_heads.tn', '[One: 0]\n  out    logits', '\n  out    logits', ['bert_heads_changed.tn:55:45 T0218']),
    ('bert_heads.tn', 'cross_entropy[T](first, start)', 'cross_entropy[Two](first, start)',
     ['bert_heads_changed.tn:29:35 T0201']),
    ('gpt2.tn', 'ids[T: 1 .. T -> T1]', 'ids[T: 1 .. T1 -> T1]', ['gpt2_changed.tn:50:70 T0210']),
    ('gpt2.tn', 'qkv[P: 2][T -> S]', 'qkv[P: 3][T -> S]', ['gpt2_changed.tn:17:18 T0207']),
    ('gpt2.tn', 'qkv[P: 1][T -> S]', 'qkv[P: 1]', ['gpt2_changed.tn:13:21 T0501']),
    ('transformer.tn', 'multihead_attn(a, m, iota[S]()', 'multihead_attn(a, m, iota[S2]()',
     ['transformer_changed.tn:50:49 T0202', 'transformer_changed.tn:50:52 T0202']),
    ('transformer.tn', 'return norm3(b', 'return norm4(b', ['transformer_changed.tn:51:12 T0101']),
    ('roberta.tn', ', 0) + pad', ', 0) + pad + L', ['roberta_changed.tn:20:27 T0207']),
    ('universal_transformer.tn', 'signal[A: depth]', 'signal[A: depth + A]',
     ['universal_transformer_changed.tn:37:31 T0207', 'universal_transformer_changed.tn:53:31 T0207']),
    ('universal_transformer.tn', 'encoder(x, full[B, S, D](0.0), zs, zs, zs)', 'encoder(x, full[B, S, D](0.0), zs, zs)',
     ['universal_transformer_changed.tn:68:33 T0404']),
    ('transformer_xl_adaptive.tn', 'concat[V0 + V1 + V2 + V3 -> V]', 'concat[V0 + V1 + V3 + V2 -> V]',
     ['transformer_xl_adaptive_changed.tn:80:48 T0201']),
    ('transformer_xl_adaptive.tn', 'target - V0, where = b1 and not b2', 'target - V0',
     ['transformer_xl_adaptive_changed.tn:73:37 T0217']),
    ('electra.tn', 'embeddings_project(x) else x[X -> D]', 'embeddings_project(x) else x', ['electra_changed.tn:21:17 T0202']),
    ('electra.tn', 'put[T: at](ids, pick', 'put[T: at](ids, filled', ['electra_changed.tn:51:33 T0212']),
    ('electra.tn', 'real(replaced)', 'fake', ['electra_changed.tn:64:56 T0301']),
    ('lstm.tn', 'flip[T](r)[C -> C2])', 'flip[T](r))', ['lstm_changed.tn:17:35 T0201']),
    ('resnet.tn', 'stride = stride, pad = 0', 'stride = 1, pad = 0', ['std.tn:52:32 T0215']),
    ('resnet.tn', 'if stride == 1 and C == O then', 'if stride == 1 then', ['resnet_changed.tn:28:39 T0204']),
    ('resnet.tn', 'window[Ya -> Y1 * W, Xa -> X1 * Z](a, stride = 2, pad = 1',
     'window[Ya -> Y1 * W, Xa -> X1 * Z](a, stride = 2, pad = 3', ['resnet_changed.tn:57:36 T0215']),
    ('star_transformer.tn', 'window[T -> T * W](x, pad = 1)', 'window[T -> T * W](x)',
     ['star_transformer_changed.tn:11:83 T0215']),
    ('star_transformer.tn', 'concat[W + I + I -> O]', 'concat[W + I -> O]',
     ['star_transformer_changed.tn:13:17 T0307', 'star_transformer_changed.tn:14:19 T0307']),
    ('mtdnn.tn', 'concat[D + D + D + D -> D4]', 'concat[D + D + D -> D4]', ['mtdnn_changed.tn:28:15 T0307']),
    ('mtdnn.tn', 'dropout(s, rate))', 'x)[D -> K]', ['mtdnn_changed.tn:29:25 T0204']),
    ('xlnet.tn', 'rank[T: at])', 'rank)', ['xlnet_changed.tn:51:29 T0202']),
    ('xlnet.tn', 'dim    P = 2 * S - 1', 'dim    P = 2 * S - 2', ['xlnet_changed.tn:40:60 T0207']),
    ('nezha.tn', 'expand[T](wv(key)) + far', 'wv(key) + far', ['nezha_changed.tn:19:19 T0203']),
    ('unilm.tn', 'j < prefix or j <= i)', 'j < prefix or h)', ['unilm_changed.tn:24:120 T0104']),
    ('charlm.tn', 'stop_gradient(h1)', 'stop_gradient(y)', ['charlm_changed.tn:14:16 T0202']),
    ('ernie2.tn', 'job[J: task]', 'job[G: task]', ['ernie2_changed.tn:28:76 T0201']),
    ('gru.tn', 'concat[C + C2 -> O](hf, hr[C -> C2])', 'concat[C + C2 -> O](hf, hr)', ['gru_changed.tn:15:81 T0201']),
    ('txl.tn', 'dot[E](q + u, wk(c))', 'dot[E](q + u, wk(x))', ['txl_changed.tn:28:24 T0501']),
    ('txl.tn', 'c[S: T .. S -> M]', 'c[S: M .. S -> M]', ['txl_changed.tn:24:37 T0210']),
    ('txl.tn', 'dot[E](q + v, r[', 'dot[H](q + v, r[', ['txl_changed.tn:29:24 T0203']),
    ('txl.tn', 'r[P: M + i - j]', 'r[P: i - j]', ['txl_changed.tn:29:43 T0207']),
    ('txl.tn', 'dim    P = S  ', 'dim    P = S - 1  ', ['txl_changed.tn:29:43 T0207']),
    ('txl.tn', 'mask  j <= M + i', 'mask  j <= M + i + 1', ['txl_changed.tn:29:43 T0207']),
    ('txl.tn', 'mean(cross_entropy[V](logits, target))', 'cross_entropy[V](logits, target)', ['txl_changed.tn:43:16 T0315']),
    ('txl.tn', 'H = 10', 'H = 12', ['txl_changed.tn:17:45 T0213']),
    ('txl.tn', 'concat[M + T -> S](mem, x)', 'concat[M + T -> S](x, mem)', ['txl_changed.tn:23:35 T0201']),
    ('txl.tn', 'stop_gradient(c[', 'stop_gradient(x[', ['txl_changed.tn:24:34 T0201']),
    ('txl.tn', 'use    wo = Linear[H * E -> D]', 'use    wo = Linear[D -> H * E]', ['txl_changed.tn:35:34 T0202']),
    ('gpt2.tn', 'T <= L', 'T <= 2 * L', ['gpt2_changed.tn:46:50 T0208']),
    ('gpt2.tn', 'mask  j <= i', 'mask  i <= 3', ['gpt2_changed.tn:15:11 T0502']),
    ('gpt2.tn', 'dropout(wte[V: ids] + wpe', 'dropout(wte[V: ids] * wte + wpe', ['gpt2_changed.tn:46:41 T0203']),
    ('gpt2.tn', 'config V = 50_257, D = 768, N = 12', 'config V = 50_257, D = 700, N = 12', ['gpt2_changed.tn:9:35 T0213']),
    ('gpt2.tn', 'stack[N] Block', 'stack[N] Blok', ['gpt2_changed.tn:44:23 T0101']),
    ('xlnet.tn', 'stream[K](g, at', 'stream[K](h, at', ['xlnet_changed.tn:51:22 T0202']),
    ('xlnet.tn', 'seg: index(5)[B, T]', 'seg: index(5)[B]', ['xlnet_changed.tn:22:51 T0201', 'xlnet_changed.tn:41:52 T0201']),
    ('xlnet.tn', 'label: index(C)[B]', 'label: index(V)[B]', ['xlnet_changed.tn:65:46 T0217']),
    ('xlnet.tn', 'dot[H, E](a, wo)', 'dot[E](a, wo)', ['xlnet_changed.tn:48:14 T0202']),
    ('bert.tn', 'type[G: seg]', 'type[L: seg]', ['bert_changed.tn:38:71 T0201']),
    ('bert.tn', 'T <= L ', 'T <= L + 1 ', ['bert_changed.tn:62:24 T0207']),
    ('bert.tn', 'seg: index(G)[B, T], len', 'seg: index(G + 1)[B, T], len', ['bert_changed.tn:62:35 T0207']),
    ('bert.tn', 'at: index(T)[B, K]', 'at: index(T + 1)[B, K]', ['bert_changed.tn:64:33 T0207']),
    ('bert.tn', 'in     ids: index(V)', 'in     ids: index(V + 1)', ['bert_changed.tn:62:19 T0207']),
]
OPTIONS = {"resnet.tn": ["--set", "Block=Bottleneck", "--set", "wide=4"], "xlnet.tn": ["--set", "R=1"]}


def reported(path, specs, options):
    command = ["tenon-sema-test", path, "--root", specs, "--check", "--legal", "--brief", *options]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [" ".join(line.split(": ")[:2]) for line in lines[:-1]]


def main():
    specs, scratch = sys.argv[1:3]
    os.makedirs(scratch, exist_ok=True)
    wrong = 0
    for spec, old, new, expected in MUTATIONS:
        with open(os.path.join(specs, spec)) as file:
            text = file.read()
        path = os.path.join(scratch, spec.replace(".tn", "_changed.tn"))
        with open(path, "w") as file:
            file.write(text.replace(old, new))
        got = reported(path, specs, OPTIONS.get(spec, [])) if old in text else ["the text to replace is not in the spec"]
        if got != expected:
            wrong += 1
            print(f"{spec}: {old!r} -> {new!r}: expected {expected}, got {got}")
    print(f"{len(MUTATIONS) - wrong} of {len(MUTATIONS)} as expected")
    return wrong != 0


sys.exit(main())
