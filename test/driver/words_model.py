"""A small model that learns a sentence by heart: of byte-pairs.test and pieces.test."""


def words(symbols):
    """With so many symbols at most."""
    return MODEL.replace("V = 400", f"V = {symbols}")


MODEL = """model Words {
  config V = 400, D = 64
  dim    B, T
  in     ids: index(V)[B, T], target: index(V)[B, T]
  param  emb: [V, D] ~ normal(0.1)
  use    step = Linear[D -> D]
  dim    S = T
  let    x = emb[V: ids]
  let    a = attend(i: T, j: S) {
    score content = dot[D](x, x[T -> S]) - real(abs(i - j - 1))
    mask  j <= i
    value x[T -> S]
  }
  let    logits = dot[D](x + gelu(step(a)), emb)
  out    step(T) = logits
  loss   lm = mean(cross_entropy[V](logits, target))
}
"""
