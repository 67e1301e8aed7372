"""Beam search by the rules of three public implementations, written from their descriptions and without the runtime: whole
prefixes, lists, every candidate sorted. A text is a list of symbols with its prompt; `score(texts)` gives log probabilities of
the next symbol for a list of (number of the text, symbols).

Faults (for the tests' own controls):
  penalty   lengths count one symbol more
  parent    a beam goes on with the past of the beam that stood in its place
  stop      tensor2tensor: texts that end stay alive; transformers: they are kept at any rank; UniLM: the last frame does not
            compete
"""
import math

INFINITE = 1e7


def behind_mask(text, begun, mask, keeps=False):
    """What is read where the newest place is a mask behind `text`, whose first `begun` symbols were given. `keeps`, a fault: the
    mask of each symbol that was made stays in front of it."""
    if not keeps:
        return text + [mask]
    return text[:begun] + [each for symbol in text[begun:] for each in (mask, symbol)] + [mask]


def forbid(rows, texts, beam, first, penalty):
    """Adds `penalty` to symbols that would repeat a sequence of no_repeat symbols of text[first:], without an exempt one."""
    count = beam.no_repeat
    for row, text in zip(rows, texts):
        seen = text[first:]
        sequences = {tuple(seen[i:i + count]) for i in range(len(seen) - count + 1)} if count else ()
        for sequence in sequences:
            if list(sequence[:-1]) == seen[len(seen) - count + 1:] and not set(sequence) & set(beam.exempt):
                row[sequence[-1]] += penalty


def t2t(score, prompts, beam, fault):
    """tensor2tensor/utils/beam_search.py, all texts in one loop: [(symbols, score, ended)] per text."""
    size, stop = beam.size, beam.stop
    more = 1 if fault == "penalty" else 0

    def penalty(length):
        return ((5 + length + more) / 6) ** beam.alpha

    alive = [[(list(prompt), 0.0 if k == 0 else -INFINITE) for k in range(size)] for prompt in prompts]
    finished = [[(None, -INFINITE, False)] * size for _ in prompts]
    for made in range(beam.limit):
        rows = score([(number, text) for number, beams in enumerate(alive) for text, _ in beams])
        forbid(rows, [text for beams in alive for text, _ in beams], beam, len(prompts[0]), -math.inf)
        for number, beams in enumerate(alive):
            divisor, candidates = penalty(made + 1), []
            for k, (text, total) in enumerate(beams):
                row = rows[number * size + k]
                candidates += [((total + value) / divisor, k, symbol) for symbol, value in enumerate(row)]
            candidates.sort(key=lambda each: -each[0])
            top = []
            for place, (value, k, symbol) in enumerate(candidates[:2 * size]):
                past = beams[min(place, size - 1) if fault == "parent" else k][0]
                top.append((past + [symbol], value, symbol == stop))
            on = [(text, value * divisor) for text, value, ended in top if not ended or fault == "stop"]
            done = finished[number] + [each for each in top if each[2]]
            finished[number] = sorted(done, key=lambda each: -each[1])[:size]
            alive[number] = on[:size]
        if all(finished[n][0][1] > alive[n][0][1] / penalty(beam.limit) for n in range(len(prompts))):
            break
    found = []
    for number, prompt in enumerate(prompts):
        ended = [(text[len(prompt):-1], value, True) for text, value, isThere in finished[number] if isThere]
        found.append(ended or [(text[len(prompt):], value, False) for text, value in alive[number]])
    return found


def hf(score, prompts, beam, fault):
    """transformers' generation with BeamSearchScorer, early_stopping = False."""
    size, more = beam.size, 1 if fault == "penalty" else 0
    running = [[(list(prompt), 0.0 if k == 0 else -1e9) for k in range(size)] for prompt in prompts]
    heaps, done = [[] for _ in prompts], [False] * len(prompts)

    def add(heap, text, total, ended):
        value = total / (len(text) + more) ** beam.alpha
        if len(heap) < size or value > min(each[1] for each in heap):
            heap.append((text, value, ended))
            if len(heap) > size:
                heap.remove(min(heap, key=lambda each: each[1]))

    for _ in range(beam.limit):
        if all(done):
            break
        rows = score([(number, text) for number, beams in enumerate(running) for text, _ in beams])
        forbid(rows, [text for beams in running for text, _ in beams], beam, 0, -math.inf)
        for number, beams in enumerate(running):
            if done[number]:
                running[number] = [(text + [beam.stop], total) for text, total in beams]
                continue
            candidates = [(total + value, k, symbol) for k, (_, total) in enumerate(beams)
                          for symbol, value in enumerate(rows[number * size + k])]
            candidates = sorted(candidates, key=lambda each: -each[0])[:2 * size]
            length, following = len(beams[0][0]), []
            for rank, (total, k, symbol) in enumerate(candidates):
                past = beams[min(rank, size - 1) if fault == "parent" else k][0]
                if symbol != beam.stop:
                    following.append((past + [symbol], total))
                elif rank < size or fault == "stop":
                    add(heaps[number], past, total, True)
                if len(following) == size:
                    break
            running[number] = following
            best = candidates[0][0] / (length + more) ** beam.alpha
            done[number] = len(heaps[number]) >= size and min(each[1] for each in heaps[number]) >= best
    found = []
    for number, prompt in enumerate(prompts):
        if not done[number]:
            for text, total in running[number]:
                add(heaps[number], text, total, False)
        order = sorted(heaps[number], key=lambda each: each[1])
        found.append([(text[len(prompt):], value, ended) for text, value, ended in reversed(order)])
    return found


def unilm(score, prompts, beam, fault):
    """UniLM's decoder: frames of scores, symbols and back pointers, and a trace from the best end."""
    size, stop = beam.size, beam.stop
    frames = [[] for _ in prompts]  # per text: (totals, symbols, pointers)
    texts = [[list(prompt) for _ in range(size)] for prompt in prompts]
    for made in range(beam.limit):
        rows = score([(number, text) for number, beams in enumerate(texts) for text in beams])
        forbid(rows, [text for beams in texts for text in beams], beam, len(prompts[0]), -10000.0)
        for number in range(len(prompts)):
            candidates = []
            for k in range(1 if made == 0 else size):
                row = rows[number * size + k]
                best = sorted(range(len(row)), key=lambda symbol, row=row: -row[symbol])[:size]
                total = 0.0
                if made:
                    totals, symbols, _ = frames[number][-1]
                    total = totals[k] + (-10000.0 if symbols[k] == stop else 0.0)
                candidates += [(row[symbol] + total, k, symbol) for symbol in best]
            candidates = sorted(candidates, key=lambda each: -each[0])[:size]
            if fault == "parent":
                candidates = [(total, place, symbol) for place, (total, _, symbol) in enumerate(candidates)]
            frames[number].append(([c[0] for c in candidates], [c[2] for c in candidates], [c[1] for c in candidates]))
            texts[number] = [texts[number][k] + [symbol] for _, k, symbol in candidates]
    found = []
    for number in range(len(prompts)):
        last = next((i for i, frame in enumerate(frames[number]) if all(s == stop for s in frame[1])), len(frames[number]) - 1)
        best = (-math.inf, None, None)
        for i, (totals, symbols, _) in enumerate(frames[number][:last + 1]):
            for k, symbol in enumerate(symbols):
                if symbol == stop or (i == last and fault != "stop"):
                    value = totals[k]
                    if beam.alpha > 0:
                        value /= ((5 + i + 1 + (1 if fault == "penalty" else 0)) / 6) ** beam.alpha
                    if value > best[0]:
                        best = (value, i, k)
        value, i, k = best
        if i is None:
            found.append([([], 0.0, False)])
            continue
        trace, ended = [], frames[number][i][1][k] == stop
        while i >= 0:
            trace.append(frames[number][i][1][k])
            k = frames[number][i][2][k]
            i -= 1
        trace.reverse()
        found.append([(trace[:trace.index(stop)] if stop in trace else trace, value, ended)])
    return found


RULES = {"t2t": (0, t2t), "hf": (1, hf), "unilm": (2, unilm)}
