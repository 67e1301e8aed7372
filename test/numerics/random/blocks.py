"""Attention inside stacks, with a memory or without, in the forms that the fused op has operands for: a table of positions (its
rows seen from either end where a row of the batch is read backwards), a table of biases, segments, values of relative positions,
dropout that depends on the depth."""

# Words: memory; place (a table of relative keys), back (reversed rows); bias (a table of scores); segment; far (relative values);
# asks (keys that ask for the query's place); grid (a table at a place that is computed); pair (scores of a
# representation of pairs); drop; and masks.
BLOCKS = ["place segment drop causal", "memory place back segment order drop", "memory bias far causal", "far asks drop short",
          "memory place causal drop document pair",
          "bias asks segment short back", "memory grid segment window pair", "memory place back order far"]
MASKS = {"causal": "j <= {at} + i", "short": "j < len or j == {at} + i", "order": "{krank} <= rank",
         "document": "{kdoc} == n mod 3", "window": "not ({at} + i - j > 9) or j < 3"}


def build(g, text):
    """Adds the layer, a stack of it and its call on some value [B, T, D]."""
    words = text.split()
    memory = "memory" in words
    key, at, distances = ("S", "M", "P2") if memory else ("T2", "0", "P3")
    clipped = "clip(j - i - M, -W, W) + W" if memory else "clip(j - i, -W, W) + W"

    def keys(values, before):
        return f"concat[M + T -> S](full[B, M]({before}), {values})" if memory else f"({values})[T -> T2]"

    layer, stack = g.name("Layer"), g.name("u")
    scores = ["score content = dot[E](q + u, dot[D](c, wk))"]
    params = ["wq, wk, wv: [D, H, E]", "u: [H, E]", "wo: [D, H, E]"]
    if "place" in words:
        params += ["wr: [D, H, E]", "v: [H, E]"]
        place = f"where(back, j - {at} - i, {at} + i - j)" if "back" in words else f"{at} + i - j"
        scores.append(f"score place = dot[E](q + v, dot[D](sinusoid[{distances}, D](start = 1 - {key}), wr)[{distances}: {place} "
                      f"+ {key} - 1])")
    if "bias" in words:
        params.append("near: [R, H]")
        scores.append(f"score bias = near[R: {clipped}]")
    if "asks" in words:
        params.append("asked: [R, H, E]")
        scores.append(f"score asks = dot[E](dot[D](c, wk), asked[R: {clipped}])")
    if "grid" in words:
        params += ["steps: [R, H, E]", "v: [H, E]", "edge: [R, H]"]
        offset = "clip(j div 3 - i div 3 + j mod 2 - i mod 2, -W, W) + W"
        scores += [f"score grid = dot[E](q + v, steps[R: {offset}])", f"score edge = edge[R: {offset}]"]
    if "pair" in words:
        params += ["left, right: [D, G]", "pairs: [G, H]"]
        scores.append(f"score pair = dot[G](tanh(expand[{key}](dot[D](x, left)) + expand[T](dot[D](c, right))), pairs)")
    if "segment" in words:
        params += ["s: [H, E]", "same: [G, H, E]"]
        scores.append(f"score segment = dot[E](q + s, same[G: seg != {keys('seg', 0)}])")
    value = "dot[D](c, wv)"
    if "far" in words:
        params.append("far: [R, H, E]")
        value = f"expand[T]({value}) + expand[B](far[R: {clipped}])"
    masks = ["mask " + MASKS[word].format(at=at, krank=keys("rank", -1), kdoc=keys("n mod 3", 1)) for word in words
             if word in MASKS]
    g.draw.shuffle(scores)
    lines = ["state mem: [B, M, D] = 0.3"] if memory else []
    lines += [f"param {param} ~ normal(1)" for param in params]
    lines += [f"let c = {'concat[M + T -> S](mem, x)' if memory else 'x[T -> T2]'}"]
    lines += ["next mem = stop_gradient(c[S: T .. S -> M])"] if memory else []
    items = [*scores, "scale 1 / sqrt(E)", *masks, *(["drop 0.2"] if "drop" in words else []), f"value {value}"]
    lines += ["let q = dot[D](x, wq)", f"let a = attend(i: T, j: {key}) {{ {' '.join(items)} }}",
              "return tanh(x + dot[H, E](a, wo))"]
    g.text(f"layer {layer}(x: [B, T, D]) -> [B, T, D] {{\n    " + "\n    ".join(lines) + "\n  }")
    g.text(f"use {stack} = stack[2] {layer}")
    g.keep(f"{stack}({g.real('B', 'T', 'D')})", ("B", "T", "D"))
