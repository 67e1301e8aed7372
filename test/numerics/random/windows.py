"""Windows: convolutions of one and two axes with channels first and last, in steps, dilated, depthwise, grouped by heads; pooling
by means, whose gradients have no ties; the windows themselves; steps along axes of run-time size."""

# An expression of $ [B, T, D] or @ [B, T, H, E], and the axes of its result; (..): a parameter of these axes.
WINDOWS = ["tanh(dot[Z, D](window[T -> T * Z]($, pad = (2, 0)), (C Z D))) | B T C",
           "tanh(dot[Z, D](window[T -> T * Z]($, pad = 2, dilation = 2), (Z D C))) | B T C",
           "tanh(sum[Z](window[T -> T * Z]($, pad = 1) * (Z D))) | B T D",
           "tanh(dot[H, Z, Y](window[T -> T * Z, E -> E * Y](@, pad = ((1, 1), (0, 1))), (C H Z Y))) | B T E C",
           "tanh(dot[E, Z](window[T -> T * Z](@, pad = 1, fill = 0.5), (H C E Z))) | B T H C",
           "tanh(dot[T, Z](window[D -> D4 * Z]($, stride = 2, pad = 1), sin(window[D -> D4 * Z]($, stride = 2, pad = 1)))) | "
           "B D4",
           "mean[Z](window[D -> D4 * Z]($, stride = 2, pad = 1, fill = 0.25)) | B T D4",
           "window[T -> T * Z]($, pad = 1) | B T Z D",
           "tanh(dot[Z, D](window[TT -> T * Z](concat[T + T -> TT]($, sin($)), stride = 2, pad = 1), (C Z D))) | B T C",
           "mean[Z](window[TT -> T * Z](concat[T + T -> TT]($, tanh($)), stride = 2, pad = (0, 1), fill = 0.25)) | B T D",
           "tanh(dot[H, Z, Y](window[TT -> T * Z, E -> E * Y](concat[T + T -> TT](@, sin(@)), stride = (2, 1), "
           "pad = ((0, 3), (0, 1)), dilation = (2, 1)), (C H Z Y))) | B T E C"]


def build(g, text):
    expression, axes = text.split(" | ")
    expression = expression.replace("$", g.real("B", "T", "D")).replace("@", g.real("B", "T", "H", "E"))
    while " (" in expression and ")" in expression:
        start = expression.rfind(" (")
        inside = expression[start + 2:expression.index(")", start)]
        if not inside.replace(" ", "").isalpha():
            break
        expression = expression[:start + 1] + g.param(*inside.split()) + expression[start + 3 + len(inside):]
    g.keep(expression, tuple(axes.split()))
