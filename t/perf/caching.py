# SPDX-License-Identifier: MIT
"""What the disks of nodes keep of the repositories of a site.

A load balancer sends the fetches of a repository to one of `replicas` nodes,
by rendezvous hashing. The simulation runs a slice: a part of an average node,
with the same part of its repositories, its fetches, its disk and its network.
A repository of the slice has the mean popularity of all repositories of its
rank, so the slice behaves as the site does. Only fetches that need objects
count.

The disk evicts what was not used for the longest time. With whole files, a
fetch of a cold repository downloads all of it. With ranges, it downloads the
part that it needs; a later fetch that needs more downloads the rest.
"""

import functools
import heapq
import math
import random
from collections import OrderedDict
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Callable, NamedTuple

from figures import (FETCHES, FILES, KINDS, NODES, OBJECT_SHARE, RANGE,
                     RECORD_GETS, REPO_MEAN, REPOS, SIZE_MAX, SIZE_SIGMA)

PART = 1 / 8         # of a node
ROUNDS = 8           # fetches a repository, before and while hits are counted


class Setting(NamedTuple):
    exponent: float
    disk: float              # bytes of a node
    replicas: int = 1
    is_ranges: bool = False
    nodes: int = NODES
    part: float = PART


# ---- popularity

def power_sum(count: float, exponent: float) -> float:
    """The integral of (r + 1)^-exponent from 0 to count."""
    if exponent == 1:
        return math.log(count + 1)
    return (math.pow(count + 1, 1 - exponent) - 1) / (1 - exponent)


def share(low: float, high: float, exponent: float) -> float:
    """The part of all fetches that go to ranks low to high."""
    return ((power_sum(high, exponent) - power_sum(low, exponent)) /
            power_sum(REPOS, exponent))


def ranker(exponent: float) -> Callable[[float], float]:
    """The rank up to which the fetches have this share: the inverse of share(0,
    rank)."""
    total, left = power_sum(REPOS, exponent), 1 - exponent
    if not left:
        return lambda part: math.exp(part * total) - 1
    return lambda part: (part * total * left + 1) ** (1 / left) - 1


def buckets(exponent: float, steps: int = 20) -> list[tuple[float, float]]:
    """(number of repositories, part of the fetches that each of them gets), for
    ranks that grow by a constant factor. The first ranks are single."""
    edges = [0]
    while edges[-1] < REPOS:
        edges.append(min(REPOS, max(edges[-1] + 1,
                                    int(edges[-1] * (1 + 1 / steps)))))
    return [(high - low, share(low, high, exponent) / (high - low))
            for low, high in zip(edges, edges[1:])]


def sizes_of(count: int, draw: random.Random) -> list[float]:
    """Log-normal sizes with the mean of the site, in random order."""
    normal = NormalDist()
    sizes = [math.exp(SIZE_SIGMA * normal.inv_cdf((i + 0.5) / count))
             for i in range(count)]
    largest = SIZE_MAX / REPO_MEAN
    factor = count / sum(sizes)
    for _ in range(5):   # the limit lowers the mean, so again
        factor *= count / sum(min(s * factor, largest) for s in sizes)
    sizes = [REPO_MEAN * min(s * factor, largest) for s in sizes]
    draw.shuffle(sizes)
    return sizes


# ---- a disk

@dataclass
class Disk:
    """Parts of repositories, the most recently used last."""
    capacity: float
    sizes: list[float]
    used: float = 0
    parts: OrderedDict[int, float] = field(default_factory=OrderedDict)

    def missing(self, repo: int, part: float) -> float:
        """Notes the use of a part of a repository. Returns the bytes of it that
        are not on the disk."""
        have = self.parts.get(repo, 0)
        if have:
            self.parts.move_to_end(repo)
        return max(0, part - have) * self.sizes[repo]

    def keep(self, repo: int, part: float) -> None:
        size = self.sizes[repo]
        have = self.parts.get(repo, 0)
        if part <= have or part * size > self.capacity:
            return
        self.parts[repo] = part
        self.parts.move_to_end(repo)
        self.used += (part - have) * size
        while self.used > self.capacity:
            old, part = self.parts.popitem(last=False)
            self.used -= part * self.sizes[old]


class Slice:
    """A disk and the fetches that it gets."""

    def __init__(self, setting: Setting, seed: str):
        self.setting = setting
        self.draw = random.Random(seed)
        self.count = int(REPOS * setting.replicas / setting.nodes *
                         setting.part)
        self.rate = FETCHES * OBJECT_SHARE / setting.nodes * setting.part
        self.disk = Disk(setting.disk * setting.part,
                         sizes_of(self.count, self.draw))
        self.kinds = [k.needs if setting.is_ranges else 1
                      for k in KINDS if k.needs]
        self.weights = [k.share for k in KINDS if k.needs]

    def fill(self, part: float, is_mine: list[bool] | None = None) -> None:
        """Puts this part of the most popular repositories on the disk."""
        room = self.disk.capacity
        chosen = []
        for repo in range(self.count):
            if is_mine and not is_mine[repo]:
                continue
            room -= part * self.disk.sizes[repo]
            if room < 0:
                break
            chosen.append(repo)
        for repo in reversed(chosen):
            self.disk.keep(repo, part)

    def fetches(self, count: int) -> list[tuple[int, float]]:
        """(repository, the part that is needed) of some fetches."""
        rank, scale = ranker(self.setting.exponent), self.count / REPOS
        uniform, last = self.draw.random, self.count - 1
        parts = self.draw.choices(self.kinds, self.weights, k=count)
        return [(min(int(rank(uniform()) * scale), last), part)
                for part in parts]


# ---- a steady site

class Rates(NamedTuple):
    """Of the whole site, a second. `hit`: the part of fetches without GETs."""
    hit: float
    cold: float
    bytes: float
    gets: float


def gets_for(size: float, is_new: bool) -> float:
    return size / RANGE + (FILES + RECORD_GETS if is_new else 1)


def steady(setting: Setting, seed: str) -> Rates:
    part = Slice(setting, seed)
    part.fill(min(part.kinds))
    nr = ROUNDS * part.count
    for repo, need in part.fetches(nr):
        if part.disk.missing(repo, need):
            part.disk.keep(repo, need)
    cold = size = gets = 0.0
    for repo, need in part.fetches(nr):
        missing = part.disk.missing(repo, need)
        if missing:
            cold += 1
            size += missing
            gets += gets_for(missing, repo not in part.disk.parts)
            part.disk.keep(repo, need)
    scale = FETCHES * OBJECT_SHARE / nr
    return Rates(1 - cold / nr, cold * scale, size * scale, gets * scale)


def formula(setting: Setting, seed: str) -> float:
    """Che's approximation of the hit rate of whole files: a repository is on
    the disk if it was used in the last `age` fetches, and `age` is chosen so
    that these repositories fill the disk."""
    part = Slice(setting, seed)
    step = REPOS / part.count
    weights = [share(i * step, (i + 1) * step, setting.exponent)
               for i in range(part.count)]

    def used(age: float) -> float:
        return sum(s * -math.expm1(-w * age)
                   for s, w in zip(part.disk.sizes, weights))

    if sum(part.disk.sizes) <= part.disk.capacity:
        return 1
    low, high = 0.0, 40.0   # logarithms of `age`
    while high - low > 0.01:
        middle = (low + high) / 2
        if used(math.exp(middle)) < part.disk.capacity:
            low = middle
        else:
            high = middle
    return sum(w * -math.expm1(-w * math.exp(low)) for w in weights)


# ---- a zone is lost

@dataclass
class Link:
    """Downloads that share the bandwidth of a slice. `virtual`: the bytes that
    each of them has got since the beginning."""
    bandwidth: float
    now: float = 0
    virtual: float = 0
    done: float = 0         # bytes
    # (virtual at the end, repository, part)
    running: list[tuple[float, int, float]] = field(default_factory=list)

    def start(self, repo: int, part: float, size: float) -> None:
        heapq.heappush(self.running, (self.virtual + size, repo, part))

    def next_end(self) -> float:
        if not self.running:
            return math.inf
        left = self.running[0][0] - self.virtual
        return self.now + max(0, left) * len(self.running) / self.bandwidth

    def advance(self, now: float) -> None:
        """Moves the clock to a moment that is not after next_end()."""
        if self.running:
            size = (now - self.now) * self.bandwidth
            self.virtual += size / len(self.running)
            self.done += size
        self.now = now

    def finish(self) -> tuple[int, float]:
        """Ends the download that ends at next_end()."""
        self.advance(self.next_end())
        end, repo, part = heapq.heappop(self.running)
        self.virtual = max(self.virtual, end)
        return repo, part


@dataclass
class Surge:
    """Of each minute: fetches, fetches that had to wait, bytes; of each such
    fetch: when it came and how long it waited."""
    fetches: list[int]
    cold: list[int]
    bytes: list[float]
    waits: list[tuple[float, float]] = field(default_factory=list)
    waiting: int = 0        # at the end


class ZoneLoss:
    """A third of the nodes is lost at time 0, and the others take their
    repositories. So a third of the repositories of a slice is new to it. The
    disk has all of the others, or as many of them as fit."""

    def __init__(self, setting: Setting, bandwidth: float, minutes: int,
                 seed: str):
        left = setting._replace(nodes=setting.nodes * 2 // 3)
        self.part = Slice(left, seed)
        mine = [i % 3 != 2 for i in range(self.part.count)]
        for first in range(0, len(mine), 30):   # in random order
            piece = mine[first:first + 30]
            self.part.draw.shuffle(piece)
            mine[first:first + 30] = piece
        self.part.fill(1, mine)
        self.link = Link(bandwidth * setting.part)
        self.minutes = minutes
        self.surge = Surge([0] * minutes, [0] * minutes, [0.0] * minutes)
        # downloads: the part, and when the fetches that wait for it came
        self.pending: dict[int, list[tuple[float, list[float]]]] = {}

    def advance(self, now: float) -> None:
        minute = min(int(now / 60), self.minutes - 1)
        while self.link.next_end() <= now:
            repo, part = self.link.finish()
            self.part.disk.keep(repo, part)
            for need, came in self.pending.pop(repo):
                if need > part:
                    self.want(repo, need, came)
                else:
                    self.surge.waits += [(t, self.link.now - t) for t in came]
        self.link.advance(now)
        self.surge.bytes[minute] += self.link.done
        self.link.done = 0

    def want(self, repo: int, need: float, came: list[float]) -> None:
        """Downloads a part, or waits for the download that runs."""
        if repo in self.pending:
            self.pending[repo].append((need, came))
            return
        missing = self.part.disk.missing(repo, need)
        self.pending[repo] = [(need, came)]
        self.link.start(repo, need, missing)

    def fetch(self, now: float, repo: int, need: float) -> None:
        minute = int(now / 60)
        self.surge.fetches[minute] += 1
        if self.part.disk.missing(repo, need):
            self.surge.cold[minute] += 1
            self.want(repo, need, [now])

    def run(self) -> Surge:
        part, now, end = self.part, 0.0, self.minutes * 60
        for repo, need in part.fetches(int(part.rate * end)):
            now += part.draw.expovariate(part.rate)
            if now >= end:
                break
            self.advance(now)
            self.fetch(now, repo, need)
        self.surge.waiting = sum(len(came) for entries in self.pending.values()
                                 for _, came in entries)
        return self.surge


# ---- rendezvous hashing

MASK = (1 << 64) - 1


def mix(repo: int, node: int) -> int:
    """A hash of 64 bits: the last steps of splitmix64."""
    x = (repo * 0x9e3779b97f4a7c15 + node * 0xd1b54a32d192ed03) & MASK
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


@functools.cache
def ranking(repo: int, nodes: int = NODES) -> list[int]:
    """All nodes, in the order in which a repository prefers them."""
    return sorted(range(nodes), key=lambda node: mix(repo, node), reverse=True)


def balance(exponent: float, replicas: int, limit: float = math.inf,
            first: int = 3000) -> float:
    """Fetches of the most loaded node, divided by the mean of all nodes. The
    most popular repositories are hashed, and the rest is spread evenly. A
    repository gets more nodes until one gets at most `limit` of the mean."""
    loads = [share(first, REPOS, exponent) / NODES] * NODES
    for repo in range(first):
        part = share(repo, repo + 1, exponent)
        wanted = max(replicas, math.ceil(part * NODES / limit))
        chosen = ranking(repo)[:wanted]
        for node in chosen:
            loads[node] += part / len(chosen)
    return max(loads) * NODES


# ---- strict and relaxed reads

def probes(exponent: float, window: float, replicas: int = 1,
           rate: float = FETCHES) -> float:
    """Requests a second that ask for a newer record. After one of them, fetches
    of the repository on this node ask again only after `window` seconds."""
    total = 0.0
    for count, part in buckets(exponent):
        each = rate * part / replicas
        total += count * replicas * each / (1 + each * window)
    return total
