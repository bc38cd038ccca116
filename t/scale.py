# SPDX-License-Identifier: MIT
"""Checks the simulations of t/perf/scale on small settings.

    scale.py <t/perf>

Each check compares a simulation with an invariant, with a formula, or with a
slow and simple copy.
"""

import random
import sys
from collections import Counter

sys.path.insert(0, sys.argv[1])

import caching                              # noqa: E402
import contention                           # noqa: E402
import figures as f                         # noqa: E402


def near(value: float, expected: float, part: float) -> None:
    assert abs(value - expected) <= part * expected, (value, expected)


def check_accounts() -> None:
    """Each push is in one record or is refused, whatever the nodes do."""
    for nodes in 1, 3, 20:
        for fresh in False, True:
            setting = contention.Setting(f.STANDARD, nodes, 40, 15,
                                         is_fresh=fresh)
            store, result = contention.simulate(setting, "accounts")
            assert result.arrived > 300
            assert result.arrived == len(result.waits) + result.refused
            assert sum(store.sizes) == len(result.waits)
            assert store.newest == 1 + len(store.sizes)
            creations = len(store.sizes) + store.lost
            files = store.puts - creations
            assert 3 * result.arrived <= files <= 4 * result.arrived
            assert (store.lost > 0) == (nodes > 1)
            assert (store.gets > 0) == (nodes > 1)
            assert store.gets >= store.lost
            assert result.refused == 0 or nodes > 1


def check_speeds() -> None:
    """A lone push takes two round trips. Without groups, one record after the
    other is made."""
    lone = contention.Setting(f.FIXED, 1, 0.5, 60, gather=0)
    _, result = contention.simulate(lone, "lone")
    assert len(result.waits) > 15
    near(sorted(result.waits)[len(result.waits) // 2], 0.02, 1e-6)
    many = contention.Setting(f.FIXED, 1, 300, 5, batch=1, gather=0)
    _, result = contention.simulate(many, "many")
    near(len(result.waits) / max(result.ends), 100, 0.01)


def check_search() -> None:
    """A node finds the newest record, with few requests."""
    for behind in range(70):
        store = contention.Store(f.FIXED, random.Random(1), newest=1 + behind)
        node = contention.Node(contention.Setting(f.FIXED, 1, 1), store,
                               contention.Loop(), contention.Result())
        node.base = 1
        for _ in node.search():
            pass
        assert node.base == store.newest
        assert store.gets <= 1 + 2 * (behind + 1).bit_length()


class SlowDisk:
    """The same as caching.Disk: a list, the most recently used last."""

    def __init__(self, capacity: float, sizes: list[float]):
        self.capacity, self.sizes = capacity, sizes
        self.list: list[tuple[int, float]] = []

    def missing(self, repo: int, part: float) -> float:
        have = [p for r, p in self.list if r == repo]
        if have:
            self.list = [x for x in self.list if x[0] != repo]
            self.list.append((repo, have[0]))
        return max(0, part - sum(have)) * self.sizes[repo]

    def keep(self, repo: int, part: float) -> None:
        if part * self.sizes[repo] > self.capacity:
            return
        self.list = [x for x in self.list if x[0] != repo] + [(repo, part)]
        while sum(p * self.sizes[r] for r, p in self.list) > self.capacity:
            self.list.pop(0)


def check_disk() -> None:
    draw = random.Random("disk")
    # whole numbers and halves, so that sums are exact
    sizes = [float(draw.choice([2, 4, 8, 64])) for _ in range(40)]
    disk, slow = caching.Disk(100, sizes), SlowDisk(100, sizes)
    for _ in range(3000):
        repo, part = int(40 * draw.random() ** 3), draw.choice([0.5, 1])
        missing = disk.missing(repo, part)
        assert missing == slow.missing(repo, part)
        if missing:
            disk.keep(repo, part)
            slow.keep(repo, part)
        assert list(disk.parts.items()) == slow.list
        assert disk.used == sum(p * sizes[r] for r, p in slow.list) <= 100


def check_popularity() -> None:
    for exponent in f.EXPONENTS:
        rank = caching.ranker(exponent)
        for part in 0.1, 0.5, 0.9:
            near(caching.share(0, rank(part), exponent), part, 1e-6)
        groups = caching.buckets(exponent)
        assert sum(count for count, _ in groups) == f.REPOS
        near(sum(count * part for count, part in groups), 1, 1e-9)
        near(groups[0][1] / groups[1][1],
             caching.share(0, 1, exponent) / caching.share(1, 2, exponent),
             1e-9)
    sizes = caching.sizes_of(5000, random.Random("sizes"))
    near(sum(sizes) / len(sizes), f.REPO_MEAN, 0.001)
    assert max(sizes) <= f.SIZE_MAX * 1.001


def check_hits() -> None:
    """The simulation agrees with Che's approximation. More disk helps."""
    last = 0.0
    for disk in 1 * f.TB, 3 * f.TB, 12 * f.TB:
        setting = caching.Setting(0.8, disk, part=1 / 40)
        rates = caching.steady(setting, "hits")
        near(rates.hit, caching.formula(setting, "hits"), 0.05)
        assert last < rates.hit
        assert rates.cold <= rates.gets
        last = rates.hit
    assert last == 1 and rates.gets == 0


def check_zone() -> None:
    """All fetches that come to a cold repository are answered or wait, and the
    limit of bandwidth holds."""
    for is_ranges, bandwidth in (False, f.GB), (True, 3 * f.GB):
        setting = caching.Setting(0.8, f.NODE_DISK, 1, is_ranges, part=1 / 20)
        loss = caching.ZoneLoss(setting, bandwidth, 5, "zone")
        surge = loss.run()
        assert sum(surge.cold) == len(surge.waits) + surge.waiting
        assert all(0 <= wait <= 300 for _, wait in surge.waits)
        assert sum(surge.bytes) <= bandwidth * setting.part * 300 * 1.001
        # at first, a third of the fetches go to nodes that are new to them
        assert 0.15 < surge.cold[0] / surge.fetches[0] < 0.34
        assert surge.cold[4] < surge.cold[0]


def check_hashing() -> None:
    """A lost node's repositories are spread; no other repository moves."""
    moved = Counter()
    for repo in range(3000):
        order = caching.ranking(repo, 9)
        assert sorted(order) == list(range(9))
        assert [n for n in order if n != 8] == caching.ranking(repo, 8)
        if order[0] == 8:
            moved[order[1]] += 1
    near(sum(moved.values()), 3000 / 9, 0.2)
    assert len(moved) == 8 and max(moved.values()) < 3 * min(moved.values())
    assert 1 < caching.balance(1.0, 3, first=50) < caching.balance(
        1.0, 1, first=50)


def check_probes() -> None:
    """Requests for newer records, counted fetch by fetch."""
    draw, now, probes, until = random.Random("probes"), 0.0, 0, 0.0
    while now < 20000:
        now += draw.expovariate(3)
        if now >= until:
            probes += 1
            until = now + 2
    near(probes / now, 3 / (1 + 3 * 2), 0.03)
    near(caching.probes(0.8, 0), f.FETCHES, 1e-9)
    last = f.FETCHES
    for window in 0.1, 1, 10, 60:
        one, two = (caching.probes(0.8, window, k) for k in (1, 2))
        assert one < last and one < two
        last = one


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        print("ok", name[6:])
