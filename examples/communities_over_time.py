"""Communities over time: who works together, in two offices that begin to meet and a team that splits."""

import collections
import random
import string

import hedgerow

PEOPLE = 64
WINDOW = 60  # days until a meeting is forgotten
OFFICES_MEET, TEAM_SPLITS = 130, 220  # days


def team(person, day):
    """Returns the team of a person: one of four with 16 people each, or half of one that has split."""
    return "half" if day >= TEAM_SPLITS and 24 <= person < 32 else person // 16


def meetings(day, rng):
    """Yields 12 pairs that meet on a day: mostly of one team, else of the two teams of an office."""
    found = 0
    while found < 12:
        one, other = rng.sample(range(PEOPLE), 2)
        may_meet = one // 32 == other // 32 or day >= OFFICES_MEET
        if team(one, day) == team(other, day) or (may_meet and rng.random() < 0.04):
            yield one, other
            found += 1


def letters_of(communities, before):
    """Returns a letter for each person: a community keeps the letter that most of its people had."""
    unused = [letter for letter in string.ascii_uppercase if letter not in before]
    letters = {}
    sizes = communities.counts()
    for community in sorted(sizes, key=sizes.get, reverse=True):
        had = collections.Counter(before[person] for person, of in communities if of == community)
        letter, _ = had.most_common(1)[0]
        letters[community] = unused.pop(0) if letter in [" ", *letters.values()] else letter
    return "".join(letters[communities[person]] for person in range(PEOPLE))


with hedgerow.open(directed=False) as db:
    db.add_vertices(range(PEOPLE))
    db.define_label("met", multi=True)
    components = db.maintain("wcc", label="met")
    rng, letters, groups, kept = random.Random(6), " " * PEOPLE, PEOPLE, 0
    for day in range(360):
        one, other = zip(*meetings(day, rng))
        db.add_edges(one, other, label="met", ranks=[day] * len(one))
        db.remove_edges_where("met", rank_range=(None, max(0, day - WINDOW)))
        with db.snapshot() as g:
            groups_before, groups = groups, len(components.at(g).counts())
            kept += not components.made.startswith("from scratch")
            if day > WINDOW and groups != groups_before:
                print(f"day {day}: components: {groups}, the day before {groups_before}")
            if day % 30 == 29:
                letters = letters_of(g.run("leiden", label="met"), letters)
                print(f"day {day:3}  {letters}")
    print(f"components of 360 days: {kept} computed from changes, {360 - kept} from scratch")
