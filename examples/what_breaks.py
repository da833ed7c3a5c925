"""What breaks if a service stops: cycles of dependencies, and all that depends on a service."""

import random

import hedgerow

LAYERS = {"web": 30, "api": 40, "core": 20, "store": 8}
CYCLES = [["core-3", "core-11", "core-7"], ["api-5", "api-31"]]
# A service stops with a service that it needs hard; without another one it goes on, and does less.
HARD = ("hard", "==", True)


def dependencies(rng):
    """Yields (service, needed service, hard): each layer needs the one below; two cycles are mistakes."""
    layers = list(LAYERS)
    for layer, below in zip(layers, layers[1:]):
        for number in range(LAYERS[layer]):
            for needed in rng.sample(range(LAYERS[below]), rng.randint(1, 3)):
                yield f"{layer}-{number}", f"{below}-{needed}", rng.random() < 0.6
    for cycle in CYCLES:
        for service, needed in zip(cycle, cycle[1:] + cycle[:1]):
            yield service, needed, True


def cycles(g):
    """Yields a cycle in each group of services of which none can start before the others."""
    for service, size in g.run("scc", where=HARD).counts().items():
        if size > 1:
            yield [*g.run("cycles", source=service, length=size, limit=1, where=HARD)[0], service]


def dependents(g, service, where=None):
    """Returns all services that need the service, themselves or through others."""
    return [other for other, hops in g.bfs(service, direction="in", where=where) if hops > 0]


def print_waves(g, service, most_hops):
    """Prints what stops with a service, step by step."""
    reached = g.k_hop([service], most_hops, direction="in", where=HARD)
    for step, count in reached.counts().items():
        webs = [other for other, hops in reached if hops == step and other.startswith("web")]
        print(f"  step {step}:", "#" * count, *webs)


with hedgerow.open(keys="str") as db:
    services, needed, hard = zip(*dependencies(random.Random(4)))
    db.add_edges(services, needed, label="needs", properties={"hard": hard})
    g = db.snapshot()
    print("services that need each other:")
    for cycle in cycles(g):
        print("  " + " needs ".join(cycle))
    stopped = {service: dependents(g, service, HARD) for service in g.vertices()}
    worst = sorted(stopped, key=lambda service: len(stopped[service]), reverse=True)[:7]
    print("if it stops   others stop   of the web   others do less")
    for service in worst:
        webs = sum(other.startswith("web") for other in stopped[service])
        less = len(dependents(g, service)) - len(stopped[service])
        print(f"  {service:11} {len(stopped[service]):11} {webs:12} {less:16}")
    print(f"{worst[0]} stops:")
    print_waves(g, worst[0], most_hops=len(stopped[worst[0]]))
