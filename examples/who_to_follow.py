"""Who to follow: suggestions from a snapshot, while other people follow each other."""

import random
import threading

import hedgerow

TOPICS = ["birds", "chess", "maps", "trains"]
READER = "birds-70"


def name(person):
    return f"{TOPICS[person % 4]}-{person // 4}"


def first_follows(rng):
    """Yields who follows whom among 800 people: mostly in a topic, and mostly those with low numbers."""
    for person in range(800):
        for _ in range(15):
            topic = person % 4 if rng.random() < 0.9 else rng.randrange(4)
            followed = 4 * int(200 * rng.random() ** 2) + topic
            if followed != person:
                yield name(person), name(followed)


def spend_evening(db, rng):
    """Lets many bird watchers, but not the reader, follow a newcomer, each in a transaction."""
    for watcher in rng.sample(range(200), 120):
        if f"birds-{watcher}" != READER:
            db.insert_edge(f"birds-{watcher}", "birds-newcomer")


def suggestions(g, reader, count=5):
    """Yields the best people that the reader does not follow yet, each with score, links and likeness."""
    followed = set(g.neighbors(reader))
    scores = g.run("ppr", sources=[reader])
    best = [person for person, score in scores.top(count + len(followed) + 1)]
    best = [person for person in best if person != reader and person not in followed][:count]
    likeness = g.run("jaccard", sources=[reader] * len(best), targets=best).values
    for person, like in zip(best, likeness):
        links = len(followed.intersection(g.neighbors(person, "in")))
        yield person, scores[person], links, like


def print_suggestions(when, g):
    print(f"{when:16} score  followed by  likeness")
    for person, score, links, likeness in suggestions(g, READER):
        print(f"  {person:14} {score:.3f}  {links:2} of yours  {likeness:8.2f}")


with hedgerow.open(keys="str") as db:
    followers, followed = zip(*first_follows(random.Random(5)))
    db.add_edges(followers, followed)
    writer = threading.Thread(target=spend_evening, args=(db, random.Random(6)))
    with db.snapshot() as afternoon:
        writer.start()
        print_suggestions("afternoon", afternoon)
        writer.join()
    with db.snapshot() as night:
        print_suggestions("night", night)
