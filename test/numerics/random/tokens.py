"""All tokens of a batch as one axis, of a size that is a product of two of the run: norms, attention and sums over the batch."""

# As in windows.py: an expression of $ [B, T, D] or @ [B, T, H, E], and the axes of its result.
TOKENS = ["softmax[BT](tanh($)[B * T -> BT])[BT -> B * T] | B T D",
          "dot[BT2](softmax[BT2](dot[D](tanh($)[B * T -> BT], tanh($)[B * T -> BT2])), $[B * T -> BT2])[BT -> B * T] | B T D",
          "tanh(dot[H, E](@[B * T * H -> BT * H], (C H E))) | BT C",
          "mean[T](tanh($[B * T -> BT])[BT -> T * B2]) | B2 D"]
