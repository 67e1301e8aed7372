"""Attentions of random specifications: what their queries look at, then the items."""
SCORES = ["T|score dot[E](@q, @k) scale 1 / sqrt(E) mask j <= i value @v",
          "T|score dot[E](@q, @k) mask j < len value @v",
          "T|score dot[E](@q, @k) scale 0.5 mask sees(i, j) mask j < len drop 0.2 value @v",
          "M|score dot[E](@q + @u, @k) score dot[E](@q + @u, @table[P: M + i - j]) scale 1 / sqrt(E) mask j <= M + i drop "
          "0.1 value @v",
          "M|score dot[E](@q, @k) score @bias[A: clip(j - i, 0, A - 1)] mask j <= i + M and not (j < 1) value @v",
          "T|score dot[E](@q + @u, @k) score dot[E](@q, @table[P: i - j]) mask j <= i mask seg[T: j] == seg[T: i] value @v",
          "T|score dot[E](@q, @k) score where(seg[T: i] == seg[T: j], 0.5, -0.5) value @v",
          "T|score tanh(dot[E](@q, @k)) * 3 mask i <= j or j < len drop 0.1 value @v",
          "T|score dot[E](@q, @k) score -abs(real(i - j)) * 0.3 mask n[T: j] <= n[T: i] value @v"]


def build(g, text):
    """Queries of T places; keys are the places themselves (J = T2) or the memory and they (J = S)."""
    memory = "M" in text.split("|")[0]
    key = "S" if memory else "T2"
    x = g.real("B", "T", "D")
    names = [g.name("u") for _ in range(3)]
    g.text(f"use {', '.join(names)} = Linear[D -> H * E]")
    if memory:
        c = g.keep(f"concat[M + T -> S](expand[B]({g.real('M', 'D')}), {x})", ("B", "S", "D"))
    else:
        c = f"{x}[T -> T2]"
    items = text.split("|")[1]
    for mark, axes in (("@table", ("P", "H", "E")), ("@bias", ("A", "H")), ("@same", ("K", "H", "E")), ("@u", ("H", "E"))):
        if mark in items:
            if mark == "@table":
                wr = g.name("u")
                g.text(f"use {wr} = Linear[D -> H * E](bias = false)")
                items = items.replace(mark, f"{wr}(sinusoid[P, D]())")
            else:
                items = items.replace(mark, g.param(*axes))
    q = g.name("q")
    g.text(f"let {q} = {names[0]}({x})")
    k = g.name("q")
    g.text(f"let {k} = {names[1]}({c})")
    items = items.replace("@q", q).replace("@k", k).replace("@v", f"{names[2]}({c})")
    g.keep(f"attend(i: T, j: {key}) {{ {items} }}", ("B", "T", "H", "E"))
