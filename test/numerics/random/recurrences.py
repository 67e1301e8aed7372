"""Scans: with masks, several carries, whole numbers carried, contractions of what is read at a place, dropout, stacks and scans
inside, in either direction; with states that a layer sets at each place, for each depth of a stack or one that its depths
share."""

SCANS = ["plain", "input masked", "back count", "deep drop holds", "inner", "input last two holds", "masked deep count"]


def build(g, text):
    words = text.split()
    x = g.real("B", "T", "D")
    read = f"flip[T]({x})" if "back" in words else x
    recurrent, other, name = g.name("u"), g.name("u"), g.name("q")
    g.text(f"use {recurrent} = Linear[D -> D]")
    place = "w[T: t]"
    lines = [f"let h0 = {g.real('B', 'D')}", f"let w = {read}"]
    if "input" in words:
        g.text(f"use {other} = Linear[D -> D](bias = false)")
        place = f"{other}({place})"
    if "deep" in words:
        g.text(f"use {other} = stack[2] Step[D]")
        place = f"{other}({place}, {g.real('D')})"
    body = ["carry h: [B, D] = h0", f"let new = tanh({recurrent}(h) / 4 + {place})"]
    if "drop" in words:
        body[-1] = body[-1].replace(place, f"dropout({place}, 0.2)")
    value = "new"
    if "count" in words:
        body += ["carry count: i32[B] = ids[T: 0] mod 4", "next count = (count + t) mod 7"]
        value += " + real(count) / 8 + real(t) / real(size[T]())"
    if "two" in words:
        body += ["carry slow: [B, D] = h0 * 0.5", "next slow = slow * 0.75 + new * 0.25"]
        value += " * slow"
    if "inner" in words:
        near = "let q = 0.5 * z + 0.3 * sin(w[T: t] * real(s + 1)) next z = q yield q"
        body += [f"let near = scan(s: K) {{ carry z: [B, D] = new {near} }}"]
        value += " + near[K: K - 1]"
    if "holds" in words:
        holds = g.name("u")
        g.text(f"use {holds} = {'stack[3] ' if 'deep' in words else ''}Holds[D]")
        body[1] = body[1].replace("tanh(", f"tanh({holds}(h) / 4 + ", 1)
    body += ["next h = " + ("where(keep[T: t], new, h)" if "masked" in words else "new"), f"yield {value}"]
    scan = "scan(t: T) { " + " ".join(body) + " }"
    for old, fresh in (("h0", g.name("h")), ("w", g.name("w"))):
        lines = [line.replace(f"let {old} =", f"let {fresh} =") for line in lines]
        scan = scan.replace(f" {old} ", f" {fresh} ").replace(f"{old}[T: t]", f"{fresh}[T: t]")
    for line in lines:
        g.text(line)
    g.text(f"let {name} = {scan}")
    if "back" in words:
        g.keep(f"flip[T]({name})", ("T", "B", "D"))
    elif "last" in words:
        g.keep(f"{name}[T: T - 1]", ("B", "D"))
    else:
        g.keep(name, ("T", "B", "D"))
