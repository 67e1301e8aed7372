"""What a bench run has to reach besides its own row's ratio."""

COMPILE_SECONDS, ARTIFACT_BYTES, TWO_THREADS = 20, 5e6, 1.8


def shortfalls(results):
    """One sentence for every figure behind its floor, and for every row without figures."""
    found = []
    for r in results:
        name = f"{r['row']}, {r['threads']} threads, dropout {r['dropout']}, {r['tier']}, {r.get('numerics', 'f32')}"
        if "error" in r:
            found.append(f"{name}: {r['error'].strip()}")
        elif "tenon" in r:
            found += [f"{name}: {text}" for text in of_row(r)]
    return found + list(of_threads(results))


def of_row(r):
    ours, fastest = r["tenon"], r[r["fastest"]]
    if r["ratio"] < r["floor"]:
        yield f"{r['ratio']:.2f} times {r['fastest']}, floor {r['floor']}"
    if ours["share_of_peak"] < r["share_floor"]:
        yield f"{ours['share_of_peak']:.0%} of the peak, floor {r['share_floor']:.0%}"
    if ours["peak_bytes"] > fastest["peak_bytes"]:
        yield f"{ours['peak_bytes'] >> 20} MiB of memory, {r['fastest']} takes {fastest['peak_bytes'] >> 20}"
    if ours["peak_bytes"] > r.get("memory_floor", float("inf")) * (1 << 30):
        yield f"{ours['peak_bytes'] >> 20} MiB of memory, floor {r['memory_floor']} GiB"
    if r["compile_seconds"] > COMPILE_SECONDS:
        yield f"compiling took {r['compile_seconds']:.1f} s, bound {COMPILE_SECONDS}"
    if r["artifact_bytes"] > ARTIFACT_BYTES:
        yield f"the artifact has {r['artifact_bytes'] / 1e6:.1f} MB, bound {ARTIFACT_BYTES / 1e6:.0f}"


def of_threads(results):
    """Two threads against one, where this run has both."""
    rates = {(r["row"], r["dropout"], r["tier"] + ", " + r.get("numerics", "f32"), r["threads"]): r["tenon"]["tokens_per_second"]
             for r in results if "tenon" in r}
    for (row, dropout, tier, threads), rate in rates.items():
        one = rates.get((row, dropout, tier, 1))
        if threads == 2 and one and rate / one < TWO_THREADS:
            yield f"{row}, dropout {dropout}, {tier}: two threads are {rate / one:.2f} times one, floor {TWO_THREADS}"
