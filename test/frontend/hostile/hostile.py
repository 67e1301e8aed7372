#!/usr/bin/env python3
"""No text of 100 kB costs the front more than a bound of time and memory, and none kills it.

usage: hostile.py TENON [--verb check|emit|compile] [--root DIR] [--only NAME] [--seconds S] [--megabytes M] [--list]

Writes specifications that are made to be expensive (recursion, doubling, depth conditions, long chains, many mistakes, index
proofs with many cases) and runs TENON on each. The verdict is on each child's processor time (2 s are promised on a machine of
its own; the default of 8 leaves room for slow ones and debug builds), its peak memory (500 MB), and its exit status: 0, or 1 with
a message. `emit` goes on to MLIR, for those that check; `compile` on to an artifact for one tier.
"""
import argparse
import os
import resource
import sys
import tempfile

CASES = {}


def case(name, body, before=""):
    """A model with inputs x: [B, T] and ids: index(7)[B, T] around `body`, at most 100 kB."""
    text = f"{before}\nmodel M {{\n  dim B, T\n  in x: [B, T], ids: index(7)[B, T]\n{body}\n}}\n"
    assert len(text) <= 102_400, (name, len(text))
    CASES[name] = text


def lines(form, count, start=0):
    return "\n".join(form(i) for i in range(start, count))


def recursion():
    branch = "  let y = f(x)\n  out y"
    case("function-branches", branch, "fn f(y: [..]) -> [..] { return f(y) + f(y) }")
    case("functions-of-each-other", branch,
         "fn f(y: [..]) -> [..] { return g(y) + g(y) }\nfn g(y: [..]) -> [..] { return f(y) * f(y) }")
    case("layer-stacks-itself", "  use a = A\n  let y = a(x)\n  out y",
         "layer A(x: [..]) -> [..] { use s = stack[3] A\n return s(x) + s(x + 1) }")
    case("layer-counts-down", "  use a = A\n  let y = a(x)\n  out y",
         "layer A(x: [..]) -> [..] { config n = 0 use s = A(n = n - 1)\n return s(x) + s(x + 1) }")
    case("doubled-functions", "  let y = f20(x)\n  out y",
         "fn f0(y: [..]) -> [..] { return exp(y) }\n" +
         lines(lambda i: f"fn f{i}(y: [..]) -> [..] {{ return f{i-1}(y) + f{i-1}(y + 1) }}", 21, 1))
    case("doubled-layers", "  use l = L20\n  let y = l(x)\n  out y",
         "layer L0(x: [..]) -> [..] { param w: [] = 1\n return x * w }\n" +
         lines(lambda i: f"layer L{i}(x: [..]) -> [..] {{ use a, b = L{i-1}\n return a(x) + b(x) }}", 21, 1))
    case("nested-layers", "  use a = L1200\n  let y = a(x)\n  out y",
         "layer L0(x: [..]) -> [..] { return x }\n" +
         lines(lambda i: f"layer L{i}(x: [..]) -> [..] {{ use a = L{i-1} return a(x) }}", 1201, 1))


def depths():
    stack = "  use s = stack[1_000_000] L\n  let y = s(x)\n  out y"
    case("depth-alternates", stack, "layer L(x: [..]) -> [..] { return if depth mod 2 == 0 then x + 1 else x * 2 }")
    case("depth-late", stack, "layer L(x: [..]) -> [..] { " +
         lines(lambda i: f"let a{i} = if depth * {i} > 999_990 * {i} then x else x * 2", 200) +
         "\n return " + " + ".join(f"a{i}" for i in range(200)) + " }")
    case("depth-doubled", stack, "layer L(x: [..]) -> [..] { let d0 = depth\n" +
         lines(lambda i: f"let d{i} = d{i-1} + d{i-1} mod 7", 60, 1) +
         "\n return if d59 > 3 then x else x + 1 }")
    nest = "layer L0(x: [..], d: i32, e: i32, f: i32) -> [..] { return if d + e + f + depth > 100_000 then x else x + 1 }\n"
    nest += "layer L1(x: [..], d: i32, e: i32) -> [..] { use s = loop[1000] L0\n return s(x, d, e, depth) }\n"
    nest += "layer L2(x: [..], d: i32) -> [..] { use s = loop[1000] L1\n return s(x, d, depth) }\n"
    case("depth-nested", "  use s = stack[1000] L3\n  let y = s(x)\n  out y",
         nest + "layer L3(x: [..]) -> [..] { use s = loop[1000] L2\n return s(x, depth) }")
    case("depth-history", "  config N = 1_000_000\n  use s = stack[N] L\n  let y = s[N](x)\n  out y",
         "layer L(x: [..]) -> [..] { return if depth mod 3 == 1 then x * 2 else x }")
    case("depth-irregular", "  use s = stack[1000] L\n  let y = s(x)\n  out y",
         "layer L(x: [..]) -> [..] { param p: [] = 0 let y0 = x " +
         lines(lambda i: f"let y{i} = if depth * {9 - 2 * i} mod {(0, 13, 17, 19)[i]} < 5 then y{i - 1} + p else y{i - 1}", 4,
               1) + " return y3 }")
    case("depth-initializers", stack, "layer L(x: [..]) -> [..] { " +
         lines(lambda i: f"param w{i}: [] ~ normal(depth * 0.1 + 1)", 100) + "\n return x" +
         "".join(f" * w{i}" for i in range(100)) + " }")
    names = 'names L as hf { "w*" = "v{1}" }\n'
    case("names-of-a-million", stack, names + "layer L(x: [..]) -> [..] { " + lines(lambda i: f"param w{i}: [] = 1", 100) +
         "\n return x" +
         "".join(f" * w{i}" for i in range(100)) + " }")


    plain = "layer L0(x: [..]) -> [..] { param w: [] = 1\n return x * w }\n" + lines(
        lambda i: f"layer L{i}(x: [..]) -> [..] {{ use k = stack[1000] L{i-1}\n return k(x) }}", 4, 1)
    case("stacks-of-stacks", "  use s = stack[1000] L3\n  let y = s(x)\n  out y", plain)
    conditions = "layer L0(x: [..]) -> [..] { param w: [] = 1\n return if depth mod 2 == 0 then x * w else x * 2 }\n"
    conditions += "layer L1(x: [..]) -> [..] { use k = stack[1000] L0\n return if depth mod 3 == 1 then k(x) else x }\n"
    conditions += "layer L2(x: [..]) -> [..] { use k = stack[1000] L1\n return if depth div 3 == 1 then k(x) else x }\n"
    case("stacks-of-stacks-by-depth", "  use s = stack[1000] L2\n  let y = s(x)\n  out y", conditions)
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23]
    case("depth-of-many-periods", "  use s = stack[200_000] L\n  let y = s(x)\n  out y",
         "layer L(x: [..]) -> [..] { " + " ".join(f"let a{p} = if depth mod {p} == 0 then x * {p} else x + {p}" for p in primes) +
         " return " + " + ".join(f"a{p}" for p in primes) + " }")
    case("parameters-of-a-million", stack, "layer L(x: [..]) -> [..] { " + lines(lambda i: f"param w{i}: [] = 1", 1500) +
         "\n let y0 = x " +
         lines(lambda i: f"let y{i} = y{i - 1} * w{i}", 1500, 1) + "\n return y1499 }")


def formulas():
    """Scalars over batches, whose subterms are shared."""
    def chain(name, form, count, end):
        case(name, "let y0 = mean(x)\n" + lines(form, count, 1) + "\n" + end.format(count - 1) + "\nout x")
    for end in ("metric", "loss"):
        chain(end + "-of-products", lambda i: f"let y{i} = y{i-1} * y{i-1} + y{i-1}", 60, end + " z = y{}")
    chain("metric-of-quotients", lambda i: f"let y{i} = y{i-1} / (1 + y{i-1})", 2500, "metric z = y{}")
    chain("metric-of-many-means", lambda i: f"let y{i} = (y{i-1} + mean(x * {i})) * 2", 2200, "metric z = y{}")
    chain("metric-of-signs", lambda i: f"let y{i} = " + "-" * 250 + f"y{i-1}", 370, "metric z = y{}")
    chain("metrics-of-many-means", lambda i: f"let y{i} = y{i-1} + mean(x * {i})\nmetric m{i} = y{i}", 1700, "metric z = y{}")


def patterns():
    """Of recipes, over the layers of a stack."""
    head = "layer K(x: [..]) -> [..] { param " + ", ".join(f"weight{i}: []" for i in range(12)) + " = 1\n return x" + "".join(
        f" * weight{i}" for i in range(12)) + " }\n"
    head += ("model M { dim B in x: [B] use k = stack[5000] K\n let y = k(x) loss l = mean(y) }\ntrain M as r { bind B = 2 data "
             "= caller loss = l steps = 1 optimizer = adam(lr = 1) ")
    CASES["groups"] = head + "groups = (" + ", ".join(f'group("*{i}*w*ei*ght*{i % 7}", "k.*.weight{i % 12}", lr = depth + {i})'
                                                      for i in range(1200)) + ") }\n"
    CASES["milestones"] = head + "schedule = milestones(factor = 0.9, at = (" + ", ".join(map(str, range(1, 14_000))) + ")) }\n"
    CASES["freezes"] = head + "freeze = (" + ", ".join(f'"*{i}*e*e*e*e*e*e*b"' for i in range(3500)) + ") }\n"


def chains():
    def chain(name, form, count, start="let a0 = x", end=None, before=""):
        case(name, f"{before}\n{start}\n" + lines(form, count, 1) + "\n" + (end or f"out a{count - 1}"))
    gather = "\nlet y = r[R: clip(a{}, 0, R - 1)]\nout y"
    table = "config R = 50\nparam r: [R] ~ normal(1)"
    chain("lets", lambda i: f"let a{i}=a{i-1}+1", 5000)
    chain("lets-short", lambda i: f"let a{i}=a{i-1}", 6000)
    chain("lets-under-if", lambda i: f"let a{i} = if true then a{i-1} + 1 else x", 2300)
    chain("lets-of-signs", lambda i: f"let a{i}=" + "-" * 250 + f"a{i-1}", 370)
    chain("lets-renamed", lambda i: f"let a{i}=a{i-1}[{'TSU'[(i-1) % 3]} -> {'TSU'[i % 3]}]", 3400, before="dim S = T, U = T")
    chain("lets-of-indices", lambda i: f"let a{i}=a{i-1}+1", 5700, "let a0=ids", gather.format(5699), table)
    chain("lets-with-proofs", lambda i: f"let a{i}=a{i-1}+1\nlet y{i}=y{i-1}+r[R: clip(a{i},0,R-1)]", 1700,
          "let a0=ids\nlet y0=x", "out y1699", table)
    chain("lets-of-and", lambda i: f"let a{i}=a{i-1} and ids == {i % 7}", 3000, "let a0=ids == 1",
          "let y = where(a2999, x, 0)\nout y")
    chain("lets-of-not", lambda i: f"let a{i}=not a{i-1}", 5000, "let a0=ids == 1",
          "let y = where(a4999, r[R: ids * 8], 0)\nout y", table)
    chain("lets-of-where", lambda i: f"let a{i} = where(a{i-1} == {i % 7}, a{i-1} * 2, a{i-1} + 1)", 1400, "let a0=ids",
          gather.format(1399), table)
    chain("lets-of-shapes", lambda i: f"let a{i} = a{i-1}[{'A * F -> Q' if i % 2 else 'Q -> A * F'}]", 2400, "let a0 = p",
          "let y = a2398\nout y", "config A = 2, F = 2, Q = 4\nparam p: [A, F] = 0")
    chain("lets-of-concat", lambda i: f"let c{i} = concat[T + T -> U](i{i-1}, i{i-1})\nlet i{i} = c{i}[U: 0 .. T -> T]", 1000,
          "let i0 = iota[T]() mod R", "let y = r[R: i999]\nout y", table + "\ndim U = T + T")
    chain("lets-walked", lambda i: f"let a{i} = cumsum[T](a{i-1})", 2900, end="out step(T) = a2899")
    chain("lets-of-attends", lambda i: f"let a{i} = attend(i: T, j: S) {{ score a{i-1} * k mask j <= i value k }}", 1000,
          before="dim S = T\nlet k = x[T -> S]",
          end="out step(T) = a999")
    chain("lets-of-scans", lambda i: f"let a{i} = scan(t: T) {{ carry h: [B] = 0 next h = h + a{i-1}[T: t] yield h }}", 1000)
    chain("lets-of-tuples", lambda i: f"let a{i}=(a{i-1},a{i-1})", 4300, end="out x")
    chain("configs", lambda i: f"config a{i} = a{i-1} + 1", 3700, "config a0 = 1", "let y = x\nout y")
    chain("dims", lambda i: f"dim a{i} = a{i-1} + 1", 4000, "dim a0 = T", "let y = x\nout y")
    chain("bounds-of-dims", lambda i: f"dim a{i} <= a{i-1}", 4500, "dim a0 <= 5", "dim Z = a0 - a4499\nlet y = x\nout y")


def proofs():
    def clipped(terms):
        return f"  config R = 50\n  param r: [R] ~ normal(1)\n  let y = r[R: clip({terms}, 0, R - 1)]\n  out y"
    def term(i):
        return f"ids mod {i + 2}" if i % 2 else f"ids div {i + 2}"
    case("proof-of-13-quotients", clipped(" + ".join(term(i) for i in range(13))))
    case("proof-of-60-quotients", clipped(" + ".join(term(i) for i in range(60))))
    case("proof-of-13-distances", clipped(" + ".join(f"abs(ids - {i}) mod {i + 2}" for i in range(13))))
    case("proof-that-fails", "  config R = 50\n  param r: [R] ~ normal(1)\n" +
         lines(lambda k: f"  let y{k} = r[R: " + " + ".join(term(i) for i in range(40)) + f" + {k}]", 150) +
         "\n  let y = " + " + ".join(f"y{i}" for i in range(150)) + "\n  out y")
    case("proof-of-extremes", "  config R = 50\n  param r: [R] ~ normal(1)\n  let i0 = ids\n" +
         lines(lambda k: f"  let i{k} = max(i{k-1} mod {k + 2}, min(i{k-1}, {k}) * 2 - i{k-1})", 40, 1) +
         "\n  let y = r[R: i39]\n  out y")
    case("proof-under-masks", "  config R = 50\n  param r: [R] ~ normal(1)\n  dim S = T\n  let k = x[T -> S]\n  let a = "
         "attend(i: T, j: S) { score x\n" +
         lines(lambda q: f"  mask j * {q + 2} <= i * {q + 3} or j mod {q + 2} == i mod {q + 3}", 40) +
         "\n  score r[R: i - j]\n  value k }\n  out a")
    case("proof-under-one-of-many-masks", "  dim S = T\n  let k = x[T -> S]\n  let a = attend(i: T, j: S) { score k\n" +
         lines(lambda q: f"  mask (i - j) mod {q + 2} < {q + 1} or j * 2 div {q + 1} <= i", 300) +
         "\n  mask j <= i value k }\n  out step(T) = a")
    table = "  config R = 50\n  param r: [R] ~ normal(1)\n"
    case("proof-of-lets", table + "let c0 = ids\n" +
         lines(lambda k: f"let c{k} = min(c{k-1} + c{k-1}, max(c{k-1} - {k % 11}, 10 - c{k-1}))", 1500, 1) +
         "\nlet y = r[R: clip(c1499, 0, R - 1)]\nout y")
    case("proof-of-conditions", table + "let c0 = ids > 1\n" +
         lines(lambda k: f"let c{k} = (c{k-1} and ids > {k % 11}) or (c{k-1} and ids < {k % 7})", 1500, 1) +
         "\nlet y = r[R: where(c1499, ids, 0)]\nout y")
    case("proof-of-many-dims", "  dim " + ", ".join(f"a{i}" for i in range(9000)) + "\n  dim Z = " +
         " + ".join(f"a{i}" for i in range(250)) + " - 5\n  let y = x\n  out y")


def mistakes():
    case("unknown-lets", lines(lambda i: f"let a{i}=q{i}", 6500))
    case("unknown-layers", "  config D = 4\n" + lines(lambda i: f"use y{i} = N{i}[D]", 4900) + "\n  out x")
    case("unknown-terms", "  let y = (" + ", ".join(f"n{i}" for i in range(13000)) + ")\n  out x")
    case("unknown-long", "  let " + "a" * 49000 + " = x\n  let y = " + "a" * 49000 + "b\n  out y")
    case("twice", "  let a = x\n" * 7500)
    case("wrong-axes", "  config D = 3\n  param w: [D] = 0\n" + lines(lambda i: f"  let e{i} = x + w", 4000))
    case("unknown-keywords", "  use a = L(" + ", ".join(f"k{i} = 1" for i in range(7000)) + ")\n  let y = a(x)\n  out y",
         "layer L(x: [..]) -> [..] { return x }")
    case("wrong-names", "  config D = 2\n  param p: [D] = 0\n  let y = p\n  out y", "names M as hf { " +
         lines(lambda i: f'"q{i}*" = "q{i}"', 4800) + " }")
    case("second-next", "  state s: [B] = 0\n" + "next s = s\n" * 7500 + "  let y = x\n  out y")


def width():
    case("outs", "  let y = x\n" + lines(lambda i: f"out o{i} = y", 6000))
    case("outs-walked", "  let y = x\n" + lines(lambda i: f"out o{i}(T) = y", 5000))
    case("losses", lines(lambda i: f"loss o{i} = mean(x)", 4000))
    CASES["recipes"] = "model M { dim B in x: [B] param w: [] = 1 loss l = mean(exp(x) * w) }\n" + lines(
        lambda i: f"train M as r{i} {{ loss = l  steps = 1 }}", 2500)
    CASES["models"] = lines(lambda i: f"model M{i} {{ dim B in x: [B] let y = x out y }}", 2000)
    case("terms", "  let y = " + " + ".join(["x"] * 250) + "\n  out y")
    case("sides", "  let y = " + "if true then " * 250 + "x" + " else x" * 250 + "\n  out y")
    case("axes", "  config " + ", ".join(f"A{i} = 2" for i in range(4000)) + "\n  param p: [" +
         ", ".join(f"A{i}" for i in range(4000)) + "] ~ normal(1)\n  let y = p\n  out y")
    case("parameters", "  config D = 2\n" + lines(lambda i: f"param p{i}: [D] = 0\nlet y{i} = p{i}" +
                                                  (f" + y{i - 1}" if i else ""), 2000) + "\n  out y1999")
    case("states", lines(lambda i: f"state s{i}: [B] = 0\nnext s{i} = s{i} + 1\nlet y{i} = s{i}" + (f" + y{i - 1}" if i else ""),
                         1300) + "\n  out y1299")
    case("calls", "  use a = L\n  let y0 = x\n" + lines(lambda i: f"let y{i} = y{i - 1} + a(x * {i})", 3000, 1) + "\n  out y2999",
         "layer L(x: [..]) -> [..] { param w: [] = 1\n return x * w }")
    case("arguments", "  let y = f(" + ", ".join(["x"] * 5000) + ")\n  out y", "fn f(" +
         ", ".join(f"a{i}: [..]" for i in range(5000)) + ") -> [..] { return a0 }")
    case("inner-layers", "layer A(x: [..]) -> [..] { " + "".join(f"layer L{i}(x: [..]) -> [..] {{ return x }} "
                                                                 for i in range(1000)) + " use a = L0\n return a(x) }\n  use " +
         ", ".join(f"u{i}" for i in range(1000)) + " = A\n  let y0 = x\n" +
         lines(lambda i: f"let y{i} = y{i - 1} + u{i}(x)", 1000, 1) + "\n  out y999")
    CASES["comments"] = "#\n" * 49_000 + "model M { dim B in x: [B] let y = x out y }\n"


def trained():
    """With a step, whose backward part reads what each let of the forward part has made."""
    CASES["trained-lets"] = "model M {\n  config D = 8\n  dim B\n  in x: [B, D]\n  param w: [D] ~ normal(1)\n  let a0=x\n"
    CASES["trained-lets"] += lines(lambda i: f"let a{i}=a{i-1}*w", 5000, 1) + "\n  loss l = mean(a4999)\n}\n"
    CASES["trained-lets"] += "train M as r { bind B = 2  data = caller  loss = l  optimizer = adam(lr = 1e-3)  steps = 1 }\n"


def run(command, options):
    """Exit status, processor seconds, peak MB, output of one child."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (int(options.seconds) + 5,) * 2)
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.execv(command[0], command)
        _, status, usage = os.wait4(child, 0)
        output.seek(0)
        text = output.read().decode(errors="replace")
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def verdict(status, seconds, megabytes, text, options):
    if status not in (0, 1):
        return f"ends with {status}"
    if status == 1 and "error" not in text:
        return "is refused without a message"
    if options.verb == "check" and len(text) > 2_000_000:
        return f"says {len(text)} bytes"
    if seconds > options.seconds:
        return "takes too long"
    return "takes too much memory" if megabytes > options.megabytes else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon")
    parser.add_argument("--verb", default="check", choices=["check", "emit", "compile"])
    parser.add_argument("--root")
    parser.add_argument("--only")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--megabytes", type=float, default=500)
    options = parser.parse_args()
    for family in (recursion, depths, formulas, patterns, chains, proofs, mistakes, width, trained):
        family()
    failures = 0
    if options.root:
        os.environ["TENON_MODELS"] = options.root
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CASES.items():
            if options.only and name != options.only:
                continue
            path = os.path.join(folder, name + ".tn")
            with open(path, "w") as stream:
                stream.write(text)
            command = [options.tenon] + {"check": ["check", path], "emit": ["compile", path, "--emit=tenon"],
                                         "compile": ["compile", path, "--default-recipe", "--tier", "portable", "-o",
                                                     os.path.join(folder, name)]}[options.verb]
            status, seconds, megabytes, said = run(command, options)
            wrong = verdict(status, seconds, megabytes, said, options)
            failures += bool(wrong)
            first = said.split("\n")[0][:90] if status else ""
            print(f"{'FAIL ' + wrong if wrong else 'ok'}: {name}: exit {status}, {seconds:.2f} s, {megabytes:.0f} MB {first}",
                  flush=True)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
