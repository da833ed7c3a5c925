"""Attack paths: how an intruder gets from one account to the server that matters, and what stops it."""

import random

import hedgerow

FOOTHOLD = ("user", "temp")
CROWN_JEWEL = ("host", "payroll")
# An intruder who controls a vertex controls what its edges lead to, after some hours of work.
EDGES_FROM = {"user": ("member_of", "group"), "group": ("admin_of", "host"), "host": ("logged_in", "user")}
MISTAKES = [("logged_in", "desk-17", "ada", 4), ("admin_of", "helpdesk", "print", 1)]


def access(rng):
    """Yields (label, source, destination, hours) for an office of 300 people in 15 teams."""
    yield from [*MISTAKES, ("member_of", "temp", "helpdesk", 0), ("logged_in", "print", "job", 6)]
    yield from [("member_of", "ada", "servers", 0), ("admin_of", "servers", "payroll", 1)]
    yield from [("member_of", "job", "backup", 0), ("admin_of", "backup", "payroll", 1)]
    for person in range(300):
        team = person % 15
        yield "member_of", f"user-{person}", f"team-{team}", 0
        yield "logged_in", f"desk-{person}", f"user-{person}", 4
        yield "admin_of", "helpdesk", f"desk-{person}", 1
        yield "admin_of", f"team-{team}", f"desk-{team + 15 * rng.randrange(20)}", 1


def paths(g, k=1, where=None):
    return g.run("kpaths", source=FOOTHOLD, target=CROWN_JEWEL, k=k, weight="hours", where=where)


def print_risk(removed, g, where=None):
    """Prints the hours from the foothold to the crown jewel, and how many users have a path to it."""
    cheapest = paths(g, where=where)
    hours = cheapest.lengths[0] if len(cheapest) else "no path"
    hops = g.bfs(CROWN_JEWEL, direction="in", where=where)
    users = sum(kind == "user" and distance >= 0 for (kind, name), distance in hops)
    print(f"  {removed:32} {hours:>7} {users:6}")


with hedgerow.open() as db:
    for kind in EDGES_FROM:
        db.define_kind(kind, "str")
    for kind, (label, to) in EDGES_FROM.items():
        db.define_label(label, src=kind, dst=to)
    with db.write() as tx:
        for number, (label, source, destination, hours) in enumerate(access(random.Random(2))):
            tx.put_edge(source, destination, label=label, hours=hours, number=number)
    before = db.snapshot()
    print("  without                            hours  users")
    print_risk("(as it is)", before)
    for path in paths(before, k=2):
        print(" > ".join(name for kind, name in path))
        for source, destination in zip(path, path[1:]):
            label, _ = EDGES_FROM[source[0]]
            number = before.edge_properties(source, destination, label=label)["number"]
            print_risk(f"{source[1]} {label} {destination[1]}", before, where=("number", "!=", number))
    for label, source, destination, _ in MISTAKES:
        db.remove_edge(source, destination, label=label)
    print_risk("both mistakes", db.snapshot())
    print_risk("(as it was)", before)
