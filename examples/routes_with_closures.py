"""Routes with closures: the fastest way across a town before and after bridges close."""

import random

import hedgerow

ROWS, COLUMNS = 9, 22
RIVER = 10  # between this column and the next
BRIDGES = [1, 4, 8]  # the rows that cross it
HOME, HOSPITAL = 402, 319  # crossing 402 is in row 4, column 2


def streets(rng):
    """Yields (crossing, crossing, minutes) of a town of squares."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            crossing = 100 * row + column
            if row + 1 < ROWS:
                yield crossing, crossing + 100, rng.randint(2, 6)
            if column + 1 < COLUMNS and (column != RIVER or row in BRIDGES):
                yield crossing, crossing + 1, rng.randint(1, 6)


def bridge(row):
    """Returns the crossings at both ends of a bridge."""
    return 100 * row + RIVER, 100 * row + RIVER + 1


def town(g, title):
    """Returns the lines of a map with the fastest route, and what the hospital serves in 45 minutes."""
    routes = g.run("wpath", source=HOME, target=HOSPITAL, weight="minutes")
    served = (g.sssp(HOSPITAL, weight="minutes").values <= 45).sum()
    lines = [title, f"{routes.lengths[0]:.0f} minutes", f"{served} crossings served"]
    for row in range(ROWS):
        squares = ["#" if 100 * row + column in routes[0] else "." for column in range(COLUMNS)]
        squares.insert(RIVER + 1, "=" if g.has_edge(*bridge(row)) else "~")
        lines.append("".join(squares))
    return lines


with hedgerow.open(directed=False) as db:
    one, other, minutes = zip(*streets(random.Random(2)))
    db.add_edges(one, other, label="street", properties={"minutes": minutes})
    morning = db.snapshot()
    db.remove_edge(*bridge(4), label="street")
    noon = db.snapshot()
    with db.write() as tx:  # both at once: no snapshot sees only one of the two changes
        tx.remove_edge(*bridge(1), label="street")
        tx.put_edge(*bridge(6), label="street", minutes=10)  # a ferry
    evening = db.snapshot()
    maps = [town(morning, "morning"), town(noon, "noon"), town(evening, "evening")]
    for lines in zip(*maps):
        print("  ".join(f"{line:23}" for line in lines).rstrip())
    print("asked again, the morning is as it was:", town(morning, "morning") == maps[0])
