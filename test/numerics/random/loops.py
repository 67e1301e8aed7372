"""Loops that end by `until`: after rounds that the data decide, with draws, the depth, a stack inside, kept rows; such that never
end early or run no round; inside of another stack; as many rounds as a run-time size; that would go on behind their end; whose
every round is read."""

# Words: first, last (no round, all rounds); drop, deep, inner (a stack in each round), turns (`if depth`), kept (rows that have
# ended stay), outer (a stack around it), long (T rounds at most), odd (a condition that is false again behind the end), every
# (of each round its result), holds (a state, that of the inner stack has a value per depth).
LOOPS = ["kept", "drop deep", "inner kept holds", "turns holds", "outer", "first", "last drop", "long kept", "odd turns",
         "every drop", "odd every turns holds"]


def build(g, text):
    words = text.split()
    layer, loop = g.name("Layer"), g.name("u")
    # Masses are whole numbers at first and grow by 0.9 .. 1.1: no sum of them comes near 2.5, so that rounding ends no round.
    limit = {"first": "mass > -1", "last": "mass > 99"}.get(words[0], "mass > 2.5")
    body = ["use mix = Linear[D -> D]", "param gain: [D] ~ normal(1)",
            f"until all[B]({limit})" + (" and depth mod 2 == 1" if "odd" in words else ""),
            "let z = tanh(mix(x) / 4 + x * gain)"]
    if "inner" in words:
        body[0] += f"\n    use inner = stack[2] {'Holds' if 'holds' in words else 'One'}[D]"
        body[-1] = "let z = tanh(inner(x) + mix(x) / 4)"
    if "turns" in words:
        body[-1] = "let z = if depth mod 2 == 0 then tanh(x * gain) else sin(mix(x))"
    if "holds" in words:
        body += ["state held: [B, D] = 0.5", "next held = 0.5 * held + mean[T](z) / 4"]
        body[3] += " + held / 4"
    if "deep" in words:
        body.append("let y = z * (depth + 1) / 3")
    elif "drop" in words:
        body.append("let y = dropout(z, 0.2)")
    elif "kept" in words:
        body.append(f"let y = where({limit}, x, z)")
    else:
        body.append("let y = z")
    if "drop" in words and "deep" in words:
        body.append("let w = dropout(y, 0.2)")
    result = "w" if "drop" in words and "deep" in words else "y"
    body.append(f"return {result}, mass + 1 + 0.1 * sin(mean[T, D]({result})), rounds + 1")
    g.text(f"layer {layer}(x: [B, T, D], mass: [B], rounds: i32[]) -> ([B, T, D], [B], i32[]) {{\n    " + "\n    ".join(body)
           + "\n  }")
    x, mass = g.real("B", "T", "D"), "real(ids[T: 0] mod 4)"
    if "outer" in words:
        around = g.name("Around")
        g.text(f"layer {around}(x: [B, T, D], m: [B]) -> ([B, T, D], [B]) {{\n    use steps = loop[5] {layer}\n    "
               "param w: [D] ~ normal(1)\n    let (y, n, k) = steps(x * w, m, 0)\n    "
               "return sin(y) * real(k + 1) / 4, n - 2\n  }")
        g.text(f"use {loop} = stack[2] {around}")
    else:
        g.text(f"use {loop} = loop[{'T' if 'long' in words else 5}] {layer}")
    value, sum_ = g.name(), g.name()
    if "outer" in words:
        g.text(f"let ({value}, {sum_}) = {loop}({x}, {mass})")
    else:
        rounds = g.name("i")
        if "every" in words:
            axis, all_ = g.name("N"), [g.name() for _ in range(3)]
            g.text(f"dim {axis} = 5")
            g.text(f"let ({', '.join(all_)}) = {loop}[{axis}]({x}, {mass}, 0)")
            made = f"mean[{axis}]({all_[0]} * iota[{axis}]())", f"max[{axis}]({all_[1]})", f"{all_[2]}[{axis}: 3]"
            g.text("\n  ".join(f"let {name} = {text}" for name, text in zip((value, sum_, rounds), made)))
        else:
            g.text(f"let ({value}, {sum_}, {rounds}) = {loop}({x}, {mass}, 0)")
        g.integers.append((rounds, []))
    g.reals[value], g.reals[sum_] = ("B", "T", "D"), ("B",)
