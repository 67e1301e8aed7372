"""Tasks of what stands on an encoder beside its pre-training: classes by another form of padding, several heads at once, one of
several answers. Their best held-out loss is known.
"""
import math

from tasks import Rows, compared


def classified_at_the_end(draw, rows, T, digits, loss):
    """The order of two digits, with padding in front, as XLNet reads it: its rank is behind everything, all else is given."""
    table = Rows()
    for _ in range(rows):
        ids, length, border, order = compared(draw, T, digits, 2, 8)
        ids[length - 1] = 1
        table.add((T,), ids=ids[length:] + ids[:length], rank=[T + 1] * (T - length) + [-1] * length,
                  seg=[0] * (T - length + border) + [1] * (length - border))
        table.add(kind="bool", back=0)
        table.add(label=order)
        table.counts(loss, order)
    return table


def several_heads(draw, rows, T, digits, answers):
    """MT-DNN's other heads: whether the first digit is larger, by how much, and which of some texts has the largest one."""
    table = Rows()
    for _ in range(rows):
        ids, length, border, _ = compared(draw, T, digits, 2, 8)
        first, second = ([place for place in part if 2 <= ids[place] - shift < 2 + digits][0]
                         for part, shift in ((range(1, border), 0), (range(border, length), digits)))
        apart = ids[first] - (ids[second] - digits)
        table.add((T,), ids=ids, seg=[int(border <= place) for place in range(T)])
        table.add(len=length, accept=int(apart > 0), entail=0)
        table.add(kind="f32", score=float(apart))
        table.counts("single", int(apart > 0))
        table.counts("regress", float(apart))
        ranked(draw, table, T, digits, answers)
    return table


def ranked(draw, table, T, digits, answers):
    """Adds `answers` texts, each with one digit, to a row of the table."""
    shown, texts, lengths = draw.sample(range(digits), answers), [], []
    for digit in shown:
        length = draw.randint(4, T)
        text = [2 + 2 * digits + draw.randrange(8) for _ in range(length)] + [
            2 + draw.randrange(digits) for _ in range(T - length)]
        text[0] = 1
        text[draw.randrange(1, length)] = 2 + digit
        texts, lengths = texts + text, lengths + [length]
    table.add((answers, T), many=texts, many_seg=[0] * len(texts))
    table.add((answers,), many_len=lengths)
    table.add(best=shown.index(max(shown)))
    table.counts("rank", shown.index(max(shown)))


def answered(draw, rows, answers, digits):
    """A question and one of some answers in a text: the right one has the letter of the question's digit. What a text says is
    known to a language model in part: the third symbol is drawn, and the fourth says it once more."""
    table, T = Rows(), 8
    for _ in range(rows):
        wanted, right = draw.randrange(digits), draw.randrange(answers)
        others, texts = [digit for digit in range(digits) if digit != wanted], []
        for answer in range(answers):
            letter = wanted if answer == right else draw.choice(others)
            filler = draw.randrange(4)
            text = [1, 2 + wanted, 2 + 2 * digits + filler, 6 + 2 * digits + filler, 2 + digits + letter, 0]
            texts += text + [2 + draw.randrange(2 * digits) for _ in range(T - len(text))]
            # The letter is the right one in one of `answers` texts; with as many digits as answers all are as likely.
            assert answers == digits
            for word, symbols in zip(text[1:], (digits, 4, 1, digits, 1)):
                table.counts("lm", word, math.log(symbols))
        table.add((answers, T), ids=texts)
        table.add((answers,), len=[6] * answers, at=[5] * answers)
        table.add(label=0, answer=right)
        table.counts("pick", right)
    return table
