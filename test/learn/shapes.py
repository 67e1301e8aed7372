"""Pictures whose class is certain."""
from tasks import Rows

SHAPES = (("..#..", "..#..", "#####", "..#..", "..#.."), ("#...#", ".#.#.", "..#..", ".#.#.", "#...#"),
          ("#####", "..#..", "..#..", "..#..", "..#.."), ("#....", "#....", "#....", "#....", "#####"))


def shapes(draw, rows, channels, side, step):
    """One of four shapes of nine points, at a place that is a multiple of `step`, each channel lighter than the noise around it
    by a step of its own."""
    table, size = Rows(), len(SHAPES[0])
    for _ in range(rows):
        label = draw.randrange(len(SHAPES))
        top, left = (draw.randrange(0, side - size + 1, step) for _ in range(2))
        image = [draw.uniform(-0.3, 0.3) for _ in range(channels * side * side)]
        for channel in range(channels):
            light = draw.uniform(0.5, 1.5)
            for y, line in enumerate(SHAPES[label]):
                for x, point in enumerate(line):
                    if point == "#":
                        image[(channel * side + top + y) * side + left + x] += light
        table.add((channels, side, side), "f32", image=image)
        table.add(label=label)
        table.counts("ce", label)
    return table
