"""Tasks whose best held-out loss is known: texts and rows of numbers, drawn from a seed.

A task makes `Rows` or a `Text`. Both know, for every label that a loss counts, the fewest nats that any model needs which reads
the inputs right (`least`): 0 where the inputs decide the label, the logarithm of the number of symbols where they say nothing.
"""
import collections
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tensors import Tensor, count, save_npy  # noqa: E402

Loss = collections.namedtuple("Loss", "labels least")  # of the places that count, over all rows


class Rows:
    """Arrays by the name of the input, one row per sample, and what the losses count."""

    def __init__(self):
        self.shapes, self.values, self.losses = {}, {}, {}

    def add(self, shape=(), kind="i32", **row):
        """One more row of the inputs; all of a call have one shape."""
        for name, value in row.items():
            self.shapes[name] = (kind, tuple(shape))
            self.values.setdefault(name, []).append(value)

    def fill(self, shape=(), kind="i32", **values):
        """Inputs that have one value in all rows: those of a model's other losses."""
        for name, value in values.items():
            self.shapes[name] = (kind, tuple(shape))
            self.values[name] = [[value] * count(shape) if shape else value] * len(next(iter(self.values.values())))
        return self

    def counts(self, loss, label, least=0.0):
        entry = self.losses.setdefault(loss, Loss([], []))
        entry.labels.append(label)
        entry.least.append(least)

    def save(self, folder, shifted=()):
        """`shifted`: inputs whose rows are those of the sample before."""
        os.makedirs(folder, exist_ok=True)
        for name, rows in self.values.items():
            kind, shape = self.shapes[name]
            rows = rows[-1:] + rows[:-1] if name in shifted else rows
            flat = [value for row in rows for value in row] if shape else rows
            assert len(flat) == len(rows) * count(shape), name
            save_npy(os.path.join(folder, name + ".npy"), Tensor(kind, [len(rows), *shape], flat))


class Text:
    """Bytes; the losses are those of the symbols that are predicted."""

    def __init__(self, symbols, losses):
        self.symbols, self.losses = bytes(symbols), losses

    def save(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(self.symbols)


def smoothed(nats, classes, smoothing):
    """The least loss where the target has (1 - smoothing) on the label, and the rest evenly on the others: its entropy. Only for
    labels that are certain."""
    if not smoothing:
        return nats
    assert nats == 0
    return -(1 - smoothing) * math.log(1 - smoothing) - smoothing * math.log(smoothing / (classes - 1))


def chance(trained, held, classes=0, smoothing=0.0):
    """The loss of who knows how often each label comes, and nothing else: the frequencies of the training rows, on the held-out
    ones; of labels that are reals their mean."""
    if isinstance(trained.labels[0], float): # squares of distances from the mean
        mean = sum(trained.labels) / len(trained.labels)
        return sum((label - mean) ** 2 for label in held.labels) / len(held.labels)
    often = collections.Counter(trained.labels)
    total = collections.Counter() # labels that are pairs, as of two ends of a span, begin with what they are of
    for label, number in often.items():
        total[label[0] if isinstance(label, tuple) else None] += number
    share = {label: number / total[label[0] if isinstance(label, tuple) else None] for label, number in often.items()}
    if smoothing: # the target is a mixture, and so is the best guess
        share = {label: (1 - smoothing) * share.get(label, 0) + smoothing * (1 - share.get(label, 0)) / (classes - 1)
                 for label in range(classes)}
        cross = {label: -(1 - smoothing) * math.log(share[label])
                 - smoothing / (classes - 1) * sum(math.log(share[other]) for other in share if other != label)
                 for label in share}
        return sum(cross[label] for label in held.labels) / len(held.labels)
    rare = 1 / len(trained.labels) # a label that no training row has
    return sum(-math.log(share.get(label, rare)) for label in held.labels) / len(held.labels)


def optimum(held, classes=0, smoothing=0.0):
    return sum(smoothed(nats, classes, smoothing) for nats in held.least) / len(held.least)


# Texts -----------------------------------------------------------------------------------------------------------------------


def delayed(draw, streams, length, symbols, back, window=0, target=False):
    """`streams` of `length` symbols, one behind the other: a symbol of the first of `symbols`, drawn evenly, takes turns with one
    of the second, that which stands at the same place as the source `back` pairs before. What came before a stream, or before a
    window of `window` symbols where there are any, is not known to a model; the first symbol of a window is predicted where there
    is a `target`, from the window before."""
    sources, copies = symbols
    total = streams * length + (0 if window and not target else 1)
    drawn, text, expected, least = [], [], [], []
    for place in range(total):
        if place % 2 == 0:
            drawn.append(draw.randrange(len(sources)))
            text.append(sources[drawn[-1]])
        else:
            text.append(copies[drawn[place // 2 - back] if place // 2 >= back else draw.randrange(len(copies))])
        first = place - 1 - (place - 1) % (window or length) # of what is seen in front of this place, which is predicted
        if place and (target or not (window and place % window == 0)):
            expected.append(text[-1])
            least.append(0.0 if place % 2 and place - 1 - 2 * back >= first else math.log(len(sources)))
    return Text(text, {"": Loss(expected, least)})


def kept(draw, streams, length, symbols, gap, blank):
    """`streams` of `length` symbols, one behind the other: one of the first of `symbols`, drawn evenly, then `gap` blanks, then
    that of the second which stands at the same place."""
    sources, copies = symbols
    drawn, text, least = 0, [], []
    for place in range(streams * length + 1):
        turn = place % (gap + 2)
        if turn == 0:
            drawn = draw.randrange(len(sources))
        text.append(sources[drawn] if turn == 0 else copies[drawn] if turn > gap else blank)
        seen = place - 1 - (place - 1) % length <= place - 1 - gap # the source, from the beginning of the stream on
        least.append(math.log(len(sources)) if turn == 0 or (turn > gap and not seen) else 0.0)
    return Text(text, {"": Loss(text[1:], least[1:])})


# Rows of numbers ---------------------------------------------------------------------------------------------------------------


def periodic(draw, rows, T, period, symbols, first, masked, mask=None, view=None, loss="mlm"):
    """A text repeats `period` symbols, and `masked` places are to be restored from the others. Behind the text stands another one
    of the same kind, which does not belong to it. `first`: number of the first symbol; `mask`: what stands at such a place, else
    the symbol itself; period 0: the text counts up, and begins again behind the last symbol. view(draw, table, words, length,
    places) adds inputs to a row, and gives a function of two places: whether the first may know the second."""
    table = Rows()
    for _ in range(rows):
        words, others = ([first + draw.randrange(symbols) for _ in range(period)] for _ in range(2))
        if period == 0:
            words, others = ([first + (start + place) % symbols for place in range(T)]
                             for start in (draw.randrange(symbols), draw.randrange(symbols)))
        length = draw.randint(max(period + masked, T // 2), T)
        ids = [(words if place < length else others)[place % len(words)] for place in range(T)]
        places = draw.sample(range(length), masked)
        table.add((T,), ids=[word if mask is None or place not in places else mask for place, word in enumerate(ids)])
        table.add((masked,), at=places, word=[ids[place] for place in places])
        table.add((masked,), "f32", weight=[1.0] * masked)
        sees = view(draw, table, words, length, places)
        for place in places:
            copies = range(place % period, length, period) if period else range(length)
            known = any(sees(place, copy) for copy in copies if copy != place and (mask is None or copy not in places))
            table.counts(loss, ids[place], 0.0 if known else math.log(symbols))
    return table


def both_ways(draw, table, words, length, places):
    """A text without marks at its end: every place sees all of it."""
    table.add((len(table.values["ids"][-1]),), seg=[0] * len(table.values["ids"][-1]))
    table.add(len=length)
    return lambda place, other: True


def both_ways_and(name, loss, limit):
    """The same, with a second loss: whether the text's first symbol is below `limit`."""
    def view(draw, table, words, length, places):
        table.add(**{name: int(words[0] < limit)})
        table.counts(loss, int(words[0] < limit))
        return both_ways(draw, table, words, length, places)
    return view


def four_ways(draw, table, words, length, places):
    """UniLM's tasks: both ways, left to right, right to left, and a source that is seen whole before a target."""
    T = len(table.values["ids"][-1])
    task, prefix = draw.randrange(4), draw.randint(1, length - 1)
    table.add((T,), seg=[task] * T, place=list(range(T)))
    table.add(len=length, task=task, prefix=prefix)
    return lambda place, other: (True, other <= place, other >= place, other < prefix or other <= place)[task]


def in_an_order(draw, table, words, length, places):
    """XLNet's orders: given places have rank -1, those to restore come in a random order, what is behind the text after all."""
    T = len(table.values["ids"][-1])
    order = draw.sample(range(len(places)), len(places))
    rank = [T + 1 if place >= length else -1 for place in range(T)]
    for place, number in zip(places, order):
        rank[place] = number
    table.add((T,), seg=[0] * T, rank=rank)
    table.add(kind="bool", back=0)
    return lambda place, other: rank[other] < rank[place]


def compared(draw, T, digits, first, fillers):
    """Symbols of a text in two parts with a digit in each, its length, where the second part begins, and whether the digits are
    equal (0), the first is larger (1) or smaller (2). Behind the text stand digits too."""
    length = draw.randint(6, T - 2)
    border = draw.randint(3, length - 2)
    ids = [first + 2 * digits + draw.randrange(fillers) for _ in range(length)]
    ids += [first + draw.randrange(2 * digits) for _ in range(T - length)]
    order, (low, high) = draw.randrange(3), sorted(draw.sample(range(digits), 2))
    a, b = ((low, low), (high, low), (low, high))[order]
    ids[0] = 1
    ids[draw.randrange(1, border)] = first + a
    ids[draw.randrange(border, length - 1)] = first + digits + b
    return ids, length, border, order


def classified(draw, rows, T, digits, loss, label="label", fillers=8, segments=False, one_of=None, padding=None):
    """The order of two digits; with `one_of` answers of which the text is the only one. `padding`: what stands behind a text for
    a model that knows lengths by it alone."""
    table, shape = Rows(), (T,) if one_of is None else (one_of, T)
    for _ in range(rows):
        ids, length, border, order = compared(draw, T, digits, 2, fillers)
        ids[length - 1] = 1 # what is read by a model that reads from left to right
        if padding is not None:
            ids[length:] = [padding] * (T - length)
        table.add(shape, ids=ids)
        if segments:
            table.add((T,), seg=[int(border <= place) for place in range(T)])
        if padding is None:
            table.add(shape[:-1], **({"len": length} if one_of is None else {"len": [length], "at": [length - 1]}))
        table.add(**{label: order})
        table.counts(loss, order)
    return table


def spans(draw, rows, T, padding=None):
    """Two marks in a text; the answer is what stands between them. Behind the text stand marks too, or `padding` for a model that
    knows lengths by it alone."""
    table = Rows()
    for _ in range(rows):
        length = draw.randint(T // 2 + 2, T)
        ids = [4 + draw.randrange(12) for _ in range(length)] + [draw.randint(2, 3) for _ in range(T - length)]
        begin, end = sorted(draw.sample(range(1, length - 1), 2))
        end += end - begin == 1
        ids[0], ids[begin], ids[end] = 1, 2, 3
        if padding is None:
            table.add((T,), seg=[0] * T)
            table.add(len=length)
        else:
            ids[length:] = [padding] * (T - length)
        table.add((T,), ids=ids)
        table.add(start=begin + 1, end=end - 1)
        table.add(kind="f32", inside=1.0)
        table.counts("span", ("start", begin + 1))
        table.counts("span", ("end", end - 1))
    return table


def asked(draw, rows, T):
    """The same with padding in front and <cls> (1) behind; in a third of the texts one of the marks is lacking, and there is no
    answer: both places are that of <cls>."""
    table = Rows()
    for _ in range(rows):
        length, none = draw.randint(T // 2 + 2, T), draw.random() < 1 / 3
        ids = [draw.randint(2, 3) for _ in range(T - length)] + [4 + draw.randrange(12) for _ in range(length)]
        begin, end = sorted(draw.sample(range(T - length, T - 2), 2))
        end += end - begin == 1
        ids[T - 1], ids[begin], ids[end] = 1, 2, 3
        if none:
            ids[draw.choice((begin, end))] = 4 + draw.randrange(12)
        start, stop = (T - 1, T - 1) if none else (begin + 1, end - 1)
        table.add((T,), ids=ids, seg=[0] * T)
        table.add((T,), "bool", allowed=[place >= T - length for place in range(T)])
        table.add(len=length, start=start, end=stop)
        table.add(kind="f32", inside=float(not none))
        table.counts("span", ("start", start))
        table.counts("span", ("end", stop))
        table.counts("absent", int(none))
    return table


def entities(draw, rows, T, weights=True, loss="ce", padding=None):
    """Symbols of two kinds and others; runs of a kind are entities: 0 is outside, and a kind has four tags, for a place that
    stands alone, the first, the last, and an inner one of a run. Behind the text it goes on in the same way, or there is
    `padding`."""
    table = Rows()
    for _ in range(rows):
        kinds = []
        while len(kinds) < T:
            kinds += [draw.randrange(3)] * draw.randint(1, 3)
        kinds, length = kinds[:T], draw.randint(T // 2, T)
        ids = [2 + 4 * kind + draw.randrange(4) for kind in kinds]
        tags = []
        for place in range(length):
            before = place > 0 and kinds[place - 1] == kinds[place]
            behind = place + 1 < length and kinds[place + 1] == kinds[place]
            tags.append(0 if kinds[place] == 0 else 4 * (kinds[place] - 1) + (1, 2, 3, 4)[2 * before + behind])
            table.counts(loss, tags[-1])
        if padding is not None:
            ids[length:] = [padding] * (T - length)
        table.add((T,), ids=ids, tag=tags + [0] * (T - length))
        if weights:
            table.add((T,), "f32", weight=[float(place < length) for place in range(T)])
        if weights and padding is None:
            table.add((T,), seg=[0] * T)
        if padding is None:
            table.add(len=length)
    return table


def parities(draw, rows, T):
    """Spans between marks; a tag says whether an odd number of ones stands in its span up to this place, and from it on."""
    table = Rows()
    for _ in range(rows):
        length = draw.randint(T // 2, T)
        ids = [draw.choice((1, 2, 2, 3, 3)) for _ in range(T)] # 1: a mark, 3: a one
        ahead, behind, count = [], [], 0
        for word in ids[:length]:
            count = 0 if word == 1 else count ^ (word == 3)
            ahead.append(count)
        count = 0
        for word in reversed(ids[:length]):
            count = 0 if word == 1 else count ^ (word == 3)
            behind.append(count)
        tags = [a + 2 * b for a, b in zip(ahead, reversed(behind))]
        for tag in tags:
            table.counts("ce", tag)
        table.add((T,), ids=ids, tag=tags + [0] * (T - length))
        table.add(len=length)
    return table


def translated(draw, rows, S, T, symbols, change):
    """Sources, and targets that are `change` of them, with an end (1); 0 is padding. Behind a source stand symbols like its
    own."""
    table = Rows()
    for _ in range(rows):
        length = draw.randint(min(S, T - 1) // 2, min(S, T - 1))
        source = draw.sample(range(2, 2 + symbols), length)
        label = change(source) + [1]
        for word in label:
            table.counts("nll", word)
        label += [0] * (T - len(label))
        table.add((S,), src=source + [2 + draw.randrange(symbols) for _ in range(S - length)])
        table.add((T,), tgt=[0] + label[:-1], label=label)
        table.add(src_len=length)
    return table


def found_out(draw, rows, T, symbols):
    """ELECTRA: a text repeats two symbols. `ids` has it whole, `masked` lacks the drawn places, in most rows all others too:
    there the generator cannot know what stood at a place, and is wrong but for one time in `symbols`; the discriminator
    can tell, since it sees the other places."""
    table = Rows()
    for _ in range(rows):
        words = [2 + word for word in draw.sample(range(symbols), 2)]
        length = draw.randint(T * 3 // 4, T)
        others = [2 + draw.randrange(symbols) for _ in range(2)]
        ids = [(words if place < length else others)[place % 2] for place in range(T)]
        places = [place for kind in range(2) for place in draw.sample(range(kind, length, 2), 2)]
        isHidden = draw.random() < 0.7
        hidden = range(length) if isHidden else places
        table.add((T,), ids=ids, masked=[1 if place in hidden else word for place, word in enumerate(ids)], seg=[0] * T)
        table.add((len(places),), at=places)
        table.add((len(places),), "f32", weight=[1.0] * len(places))
        table.add(len=length)
        for place in places:
            table.counts("mlm", ids[place], math.log(symbols) if isHidden else 0.0)
        for place in range(length):
            table.counts("rtd", int(isHidden and place in places and draw.randrange(symbols) > 0))
    return table
