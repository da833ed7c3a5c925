"""Money rings: payments that lead back to where they began, searched for while others arrive."""

import itertools
import queue
import random
import threading

import hedgerow

DAY, DAYS = 24 * 3600, range(1, 15)
RINGS = {3: [11, 402, 77], 7: [150, 9, 613, 340], 11: [25, 702, 88, 431, 560]}


def payments_of(day, rng):
    """Yields a day's payments: between random accounts, and on some days around a ring."""
    for _ in range(2_000):
        payer, payee = rng.sample(range(1_000), 2)
        yield day * DAY + rng.randrange(DAY), payer, payee, round(rng.lognormvariate(6, 1.2), 2)
    ring = RINGS.get(day, [])
    for hop, (payer, payee) in enumerate(zip(ring, ring[1:] + ring[:1])):
        yield day * DAY + (22 + hop) * 3600, payer, payee, round(9_400 * 0.97**hop, 2)


def receive_payments(db, days_over):
    """Commits two weeks of payments, each in a transaction, and reports each day that is over."""
    rng = random.Random(3)
    payments = sorted(payment for day in DAYS for payment in payments_of(day, rng))
    for day, arrived in itertools.groupby(payments, key=lambda payment: payment[0] // DAY):
        for second, payer, payee, amount in arrived:
            db.put_edge(payer, payee, label="paid", rank=second, amount=amount)
        days_over.put(day)


def rings(g, first, stop):
    """Yields each ring of 3 to 6 accounts in a time once, as its payments in the order of time."""
    chosen = {"label": "paid", "rank_range": (first, stop), "where": ("amount", ">=", 1_500)}
    component_of = g.run("scc", **chosen)  # a cycle never leaves a component
    sizes = component_of.counts()
    for account in [account for account, component in component_of if sizes[component] > 2]:
        for ring in g.run("cycles", source=account, length=6, **chosen):
            if len(ring) > 2 and account == ring.min():
                hops = set(zip(ring, [*ring[1:], ring[0]]))
                payments = [paid for paid in g.edge_table(**chosen) if paid[:2] in hops]
                yield sorted(payments, key=lambda paid: paid[2])


print(" day  hours     left     back  in turn payers")
with hedgerow.open() as db:
    db.define_label("paid", multi=True, properties={"amount": float})
    days_over = queue.Queue()
    threading.Thread(target=receive_payments, args=(db, days_over)).start()
    for _ in DAYS:
        day = days_over.get(timeout=60)
        with db.snapshot() as g:
            for payments in rings(g, first=(day - 1) * DAY, stop=(day + 1) * DAY):
                payers, payees, seconds, amounts = zip(*payments)
                hours = (seconds[-1] - seconds[0]) / 3600
                in_turn = "yes" if payees == payers[1:] + payers[:1] else "no"
                if seconds[-1] >= day * DAY:  # else it was printed a day ago
                    print(f"{day:4} {hours:6.1f} {amounts[0]:8.2f} {amounts[-1]:8.2f} {in_turn:>8} ", *payers)
