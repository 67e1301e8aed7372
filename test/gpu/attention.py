#!/usr/bin/env python3
"""Attention with its gradient, of 16 bits, for tenon-gpu-kernel-test, as a file of the kernel form.

usage: attention.py [--type bf16|f16|f32] [--chosen TEXT] CASE..|all
       attention.py --forward [--target CHIP] [--heads N] [--type bf16|f16|f32] [--chosen TEXT] CASE..|all

A function per case. The dims are I, M and B: I queries, I + M keys, B rows of the batch; CASES says what else there is, and
"drawn3" is a case with the third of the masks that are drawn of blocks. TEXT: of tenon.chosen of the gradient; with --forward,
without a gradient, of attention.
"""
import argparse
import random

CAUSAL = '{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}'
WINDOW = CAUSAL + ', {test = "le", rest = affine_map<(d0, d1, d2) -> (d1 - 20)>, query = 1 : i64, key = -1 : i64}'
NOT_AFTER = '["not", {test = "le", rest = affine_map<(d0, d1, d2) -> (d1 + 1)>, query = 1 : i64, key = -1 : i64}]'
LENGTHS = ('{test = "le", rest = affine_map<() -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, '
           'coefficients = array<i64: -1>}')
SEGMENTS = ('{test = "eq", rest = affine_map<() -> (0)>, query = 0 : i64, key = 0 : i64, operands = array<i64: 1, 2>, '
            'coefficients = array<i64: 1, -1>}')


def by(what, divisor, form, times=1):
    return f"{{{what} = {divisor} : i64, of = {{{form} = 1 : i64}}, times = {times} : i64}}"


def test(kind, *parts, rest="0", form=""):
    return f'{{test = "{kind}", rest = affine_map<(d0, d1, d2) -> ({rest})>{form}, parts = [{", ".join(parts)}]}}'


SAME_BLOCK = test("eq", by("div", 64, "query"), by("div", 64, "key", -1))
FIRST_KEYS = '{test = "le", rest = affine_map<(d0, d1, d2) -> (-15)>, key = 1 : i64}'
SUMMARIES = test("le", by("mod", 64, "key", -1), rest="56")
PREFIX = ('{test = "le", rest = affine_map<() -> (-40)>, key = 1 : i64, operands = array<i64: 0>, '
          'coefficients = array<i64: -1>}')
# What holds for no pair, which no interval tells.
ODD = test("eq", by("mod", 64, "key", 2), rest="-1")
NEVER = ('{test = "le", rest = affine_map<() -> (1)>, operands = array<i64: 1>, coefficients = array<i64: 1>}')
# Stored: a truth value for each query and key, by blocks of a table (TABLES).
STORED = '{test = "holds", operand = 3 : i64}'
RELATIVE = '{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}'
BACKWARDS = '{rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}'

CAPPED = """ ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  })"""
# Its slope is infinite at 0, the score of queries and keys that do not exist.
ROOTED = """ ({
  ^bb0(%x: f32):
    %two = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %size = math.absf %x : f32
    %root = math.sqrt %size : f32
    %value = arith.mulf %two, %root : f32
    %slope = arith.divf %one, %root : f32
    "tenon.yield"(%value, %slope) : (f32, f32) -> ()
  })"""

BLOCKS = 5  # of a drawn table, on each side
# Queries that are rows of a whole, for what dropout draws.
ROWS = ", drawn_at = 1 : i64, drawn_of = affine_map<(d0, d1, d2) -> (d0 + 70)>"

CASES = {
    "causal": {"mask": CAUSAL},
    "open": {"width": 16, "value_width": 32},
    "window": {"mask": WINDOW, "heads": 1},
    "lengths": {"mask": LENGTHS, "rate": 0.25, "width": 32, "value_width": 16},
    "segments": {"mask": SEGMENTS + ", " + NOT_AFTER, "width": 48, "value_width": 80},
    "groups": {"mask": CAUSAL, "heads": 6, "key_heads": 2, "rate": 0.1, "width": 32, "value_width": 32},
    "capped": {"mask": CAUSAL, "step": CAPPED, "heads": 1},
    "rooted": {"mask": CAUSAL, "step": ROOTED, "heads": 1},
    "rooted_relative": {"mask": CAUSAL, "step": ROOTED, "width": 16, "value_width": 16, "heads": 1, "place": RELATIVE},
    "wide": {"mask": CAUSAL, "heads": 1, "width": 128, "value_width": 128},
    "small": {"mask": CAUSAL, "width": 16, "value_width": 16, "heads": 1},
    "small_relative": {"mask": CAUSAL, "width": 16, "value_width": 16, "heads": 1, "place": RELATIVE},
    "relative": {"mask": CAUSAL, "place": RELATIVE, "rate": 0.1},
    "rows": {"mask": LENGTHS, "rate": 0.25, "heads": 4, "key_heads": 2, "width": 32, "value_width": 32, "rows": ROWS},
    "rows_relative": {"mask": CAUSAL, "place": RELATIVE, "rate": 0.25, "rows": ROWS},
    "blocks": {"mask": SAME_BLOCK},
    "blocks_by_pair": {"mask": f'["or", {SAME_BLOCK}, {NEVER}]'},
    "blocks_of_groups": {"mask": f'["or", {SAME_BLOCK}, {FIRST_KEYS}], {LENGTHS}', "heads": 4, "key_heads": 2, "rate": 0.1,
                         "width": 32, "value_width": 32},
    "summaries": {"mask": f'{CAUSAL}, ["or", {SAME_BLOCK}, {SUMMARIES}]', "heads": 1},
    "prefix": {"mask": f'["or", {CAUSAL}, {PREFIX}]', "heads": 1},
    "blocks_relative": {"mask": SAME_BLOCK, "place": RELATIVE, "heads": 1},
    "stored": {"mask": STORED, "table": "diagonal"},
    "stored_by_pair": {"mask": f'["or", {STORED}, {NEVER}]', "table": "diagonal"},
    "stored_drawn": {"mask": STORED, "table": (16, 64), "rate": 0.1},
    "stored_rare": {"mask": STORED, "table": "rare", "heads": 1, "width": 16, "value_width": 16},
    "stored_most": {"mask": f'["not", {STORED}]', "table": "rare", "heads": 1, "width": 16, "value_width": 16},
    "stored_groups": {"mask": f'["or", {STORED}, {FIRST_KEYS}], {LENGTHS}', "table": (32, 50), "heads": 4, "key_heads": 2,
                      "width": 32, "value_width": 32},
    "stored_hidden": {"mask": f'["not", {STORED}], {WINDOW}', "table": (64, 16), "heads": 1},
    "stored_wide": {"mask": f'{STORED}, {SAME_BLOCK}', "table": (40, 24), "heads": 1, "width": 128, "value_width": 128},
    "stored_relative": {"mask": STORED, "table": (64, 64), "place": RELATIVE, "heads": 1},
    "backwards": {"place": BACKWARDS, "width": 32, "value_width": 48, "heads": 1},
}
# Those that warpgroups take, forward.
WARPGROUPS = {
    "full": {"value_width": 128},
    "causal": CASES["causal"],
    "window": CASES["window"],
    "wide": CASES["wide"],
    "bounded": {"mask": CAUSAL + ", " + LENGTHS, "heads": 4, "key_heads": 2},
    "between": {"mask": NOT_AFTER, "heads": 1, "width": 96, "value_width": 80},
    "dropped": {"mask": CAUSAL, "rate": 0.25},
    "rows": {"mask": LENGTHS, "rate": 0.25, "rows": ROWS},
    "blocks": CASES["blocks"],
    "blocks_by_pair": {"mask": f'["or", {SAME_BLOCK}, {ODD}]'},
    "blocks_of_groups": {"mask": CASES["blocks_of_groups"]["mask"], "heads": 4, "key_heads": 2},
    "summaries": CASES["summaries"],
    "prefix": CASES["prefix"],
}


def drawn(draw, depth=2):
    """A mask of comparisons of sums of places, their quotients and remainders."""
    if depth == 0:
        parts = [by(draw.choice(["div", "mod"]), draw.choice([3, 16, 32, 50, 64, 100]), draw.choice(["query", "key"]),
                    draw.choice([-2, -1, 1, 2])) for _ in range(draw.randrange(1, 3))]
        form = draw.choice(["", ", query = 1 : i64", ", key = -1 : i64", ", query = -1 : i64, key = 1 : i64"])
        return test(draw.choice(["le", "le", "eq"]), *parts, rest=str(draw.randrange(-40, 40)), form=form)
    kind = draw.choice(["and", "or", "or", "not"])
    return f'["{kind}", {", ".join(drawn(draw, depth - 1) for _ in range(1 if kind == "not" else 2))}]'


def stored(table):
    """The mask that is stored: the diagonal of blocks of 64; one pair of 521; or drawn truth values for blocks of so many queries
    and keys."""
    queries, keys = (64, 64) if isinstance(table, str) else table
    seen = tensor(["d0", "d0 + d1"], "i1")
    shows = "      %x = arith.cmpi eq, %a, %b : index" if table == "diagonal" else """\
      %step = arith.constant 211 : index
      %prime = arith.constant 521 : index
      %zero = arith.constant 0 : index
      %times = arith.muli %i, %step : index
      %sum = arith.addi %times, %j : index
      %rest = arith.remsi %sum, %prime : index
      %x = arith.cmpi eq, %rest, %zero : index""" if table == "rare" else f"""\
      %row = arith.minsi %a, %last : index
      %column = arith.minsi %b, %last : index
      %x = tenon.at %blocks[%row, %column] : tensor<{BLOCKS}x{BLOCKS}xi1> -> i1"""
    return f"""  %seen = tenon.nest affine_map<(d0, d1, d2) -> (d0)> : {seen} {{
    ^bb0(%i: index):
    tenon.each affine_map<(d0, d1, d2) -> (d0 + d1)> {{
    ^bb0(%j: index):
      %rows = arith.constant {queries} : index
      %columns = arith.constant {keys} : index
      %last = arith.constant {BLOCKS - 1} : index
      %a = arith.floordivsi %i, %rows : index
      %b = arith.floordivsi %j, %columns : index
{shows}
      tenon.put 0[%i, %j], %x : i1
    }}
  }}"""


def tensor(sizes, element):
    shape = "".join(f"{size}x" if str(size).isdigit() else "?x" for size in sizes)
    return f"tensor<{shape}{element}, affine_map<(d0, d1, d2) -> ({', '.join(map(str, sizes))})>>"


def function(name, options, width=64, value_width=64, heads=2, key_heads=None, mask="", rate=0.0, step="", place="",
             rows="", table=None):
    key_heads = key_heads or heads
    keys = "d0 + d1"
    types = {"q": tensor(["d2", "d0", heads, width], options.type), "k": tensor(["d2", keys, key_heads, width], options.type),
             "v": tensor(["d2", keys, key_heads, value_width], options.type),
             "dy": tensor(["d2", "d0", heads, value_width], options.type)}
    row = tensor(["d2", heads, "d0"], "f32")
    relative = {"p": types["q"], "r": tensor(["2 * d0 + d1", heads, width], options.type)} if place else {}
    given = {"blocks": f"tensor<{BLOCKS}x{BLOCKS}xi1>"} if table else {}
    made = {"seen": tensor(["d0", keys], "i1")} if table else {}
    indices = {"length": tensor(["d2"], "i32"), "ofQuery": tensor(["d2", "d0"], "i32"),
               "ofKey": tensor(["d2", keys], "i32")}
    bounds = {"length": 150, "ofQuery": 70 if rows else 3, "ofKey": 3}
    shared = ["q", "k", "v", *relative, *indices, *made]
    every = {**types, **relative, **indices, **given}
    labels = f"[array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>{', array<i64: 1, 2>' if table else ''}]"
    attributes = (f"mask = [{mask}], place = [{place}], index_labels = {labels}, scale = {width ** -0.5} : f64, "
                  f"rate = {rate} : f64, site = 5 : i64{rows}")
    present = f"1, 1, 1, {len(relative) // 2}, {len(relative) // 2}, 0, 0, 0, 0, 0, 0, {3 + len(made)}, 0"
    names = ", ".join(f"%{one}" for one in shared)
    of_shared = ", ".join((every | made)[one] for one in shared)
    results = {"dq": types["q"], "dk": types["k"], "dv": types["v"]}
    if place:
        results |= {"dp": types["q"], "dr": tensor(["d2", "2 * d0 + d1", heads, width], "f32")}
    arguments = ", ".join(f"%{one}: {every[one]}" + (f" {{test.bound = {bounds[one]} : i64}}" if one in bounds else "")
                          for one in every)
    chosen = f" {{tenon.chosen = {{{options.target} = {options.chosen}}}}}" if options.chosen else ""
    lines = [f"func.func @{name}(%I: index, %M: index, %B: index, {arguments}) {{", *([stored(table)] if table else []),
             f'  %y, %m, %s = "tenon.attention"({names}) <{{operandSegmentSizes = array<i32: {present}>, {attributes}}}>'
             f"{step}{chosen if options.forward else ''} : ({of_shared}) -> ({types['dy']}, {row}, {row})"]
    outputs = {"y": types["dy"], "m": row, "s": row}
    if not options.forward:
        lines += [
             f'  {", ".join("%" + one for one in results)} = "tenon.attention_grad"(%dy, %y, %m, %s, {names}) '
             f"<{{operandSegmentSizes = array<i32: 1, 1, 1, 1, {present}>, resultSegmentSizes = array<i32: 1, 1, 1, "
             f"{len(relative) // 2}, {len(relative) // 2}, 0, 0, 0, 0, 0, 0>, {attributes}}}>{step}{chosen} : ({types['dy']}, "
             f"{types['dy']}, {row}, {row}, {of_shared}) -> ({', '.join(results.values())})"]
        outputs |= results
    lines += [f'  tenon.output {i} "{one}", %{one} : {type}' for i, (one, type) in enumerate(outputs.items())]
    return "\n".join([*lines, "  return", "}"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="bf16")
    parser.add_argument("--chosen", default="")
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--heads", type=int)
    parser.add_argument("cases", nargs="+")
    options = parser.parse_args()
    known = CASES | WARPGROUPS if options.forward else CASES
    for name in (WARPGROUPS if options.forward else CASES) if options.cases == ["all"] else options.cases:
        case = {"mask": drawn(random.Random(name)), "heads": 1} if name.startswith("drawn") else known[name]
        print(function(name, options, **case | ({"heads": options.heads} if options.heads else {})))


if __name__ == "__main__":
    main()
