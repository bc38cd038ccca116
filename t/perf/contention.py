# SPDX-License-Identifier: MIT
"""Many nodes push to one repository: a simulation of generations/commit.c and
generations/group.c.

A push writes its files at once and joins the queue of its node. The first push
of a queue becomes the leader. The leader waits for others if the node was idle,
takes the queue, and creates the next record. If another node was faster, the
leader reads that record, waits for a random time, and tries the next number.
All pushes are to different refs, so no push is refused because of its ref.
"""

import heapq
import math
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Iterator, NamedTuple

from figures import BATCH, GATHER, PAUSE, PUSH_FILES, TRIES, Latency

Process = Iterator[float]  # yields the seconds that it waits


class Setting(NamedTuple):
    latency: Latency
    nodes: int
    rate: float               # pushes a second, of all nodes together
    seconds: float = 60
    batch: int = BATCH
    gather: float = GATHER
    # A node commits from the newest record that it read for a client, not from
    # the newest one that it made.
    is_fresh: bool = False


@dataclass
class Store:
    """The records of one repository, and what was asked of them."""
    latency: Latency
    random: random.Random
    newest: int = 1
    puts: int = 0
    gets: int = 0
    lost: int = 0                   # creations of a name that was taken
    sizes: list[int] = field(default_factory=list)   # pushes of each record

    def wait(self, median: float) -> float:
        return median * math.exp(self.latency.sigma *
                                 self.random.normalvariate(0, 1))

    def put(self) -> float:
        self.puts += 1
        return self.wait(self.latency.put)

    def get(self) -> float:
        self.gets += 1
        return self.wait(self.latency.get)

    def create(self, number: int, size: int) -> bool:
        """A request takes effect: a record that has `size` pushes."""
        if number != self.newest + 1:
            self.lost += 1
            return False
        self.newest = number
        self.sizes.append(size)
        return True


@dataclass
class Loop:
    """Runs processes by a clock that jumps from event to event."""
    now: float = 0
    started: int = 0
    events: list[tuple[float, int, Process]] = field(default_factory=list)

    def start(self, process: Process, delay: float = 0) -> None:
        self.started += 1
        heapq.heappush(self.events, (self.now + delay, self.started, process))

    def run(self) -> None:
        while self.events:
            self.now, _, process = heapq.heappop(self.events)
            delay = next(process, None)
            if delay is not None:
                self.start(process, delay)


@dataclass
class Result:
    arrived: int = 0
    refused: int = 0
    waits: list[float] = field(default_factory=list)   # of committed pushes
    ends: list[float] = field(default_factory=list)


class Node:
    def __init__(self, setting: Setting, store: Store, loop: Loop,
                 result: Result):
        self.setting, self.store = setting, store
        self.loop, self.result = loop, result
        self.base = store.newest    # of the commits of this node
        self.read = store.newest    # the newest record that it read
        self.queue: deque[float] = deque()   # when each push began
        self.is_led = False

    def push(self) -> Process:
        began = self.loop.now
        self.result.arrived += 1
        self.read = self.store.newest   # what the client was told
        puts = PUSH_FILES + (not self.is_led)   # the hint
        yield max([self.store.put() for _ in range(puts)])
        self.queue.append(began)
        if not self.is_led:
            self.is_led = True
            self.loop.start(self.lead())

    def lead(self) -> Process:
        yield self.setting.gather
        while self.queue:
            batch = [self.queue.popleft() for _ in
                     range(min(self.setting.batch, len(self.queue)))]
            yield from self.commit(batch)
        self.is_led = False

    def commit(self, batch: list[float]) -> Process:
        if self.setting.is_fresh:
            self.base = max(self.base, self.read)
        for tries in range(TRIES):
            wait = self.store.put() / 2
            yield wait
            created = self.store.create(self.base + 1, len(batch))
            yield wait
            if created:
                self.base += 1
                return self.end(batch)
            yield self.store.get()   # the record of the faster node
            self.base += 1
            yield self.store.random.uniform(0, PAUSE * 2 ** tries)
            if tries:
                yield from self.search()
        self.result.refused += len(batch)

    def search(self) -> Process:
        """generation_newest(): by steps of 1, 2, 4, ..., then by halves."""
        low, high, step, read = self.base, 0, 1, 0
        while not high or high - low > 1:
            number = low + step if not high else low + (high - low) // 2
            wait = self.store.get() / 2
            yield wait
            if number <= self.store.newest:
                low = read = number
                step *= 2
            else:
                high = number
            yield wait
        if read != low:
            yield self.store.get()
        self.base = low

    def end(self, batch: list[float]) -> None:
        for began in batch:
            self.result.waits.append(self.loop.now - began)
            self.result.ends.append(self.loop.now)


def arrivals(setting: Setting, nodes: list[Node], loop: Loop,
             draw: random.Random) -> Process:
    while True:
        yield draw.expovariate(setting.rate)
        if loop.now >= setting.seconds:
            return
        loop.start(draw.choice(nodes).push())


def simulate(setting: Setting, seed: str) -> tuple[Store, Result]:
    """Pushes arrive for some seconds. The rest of them is then committed."""
    draw = random.Random(seed)
    loop, result = Loop(), Result()
    store = Store(setting.latency, draw)
    nodes = [Node(setting, store, loop, result) for _ in range(setting.nodes)]
    loop.start(arrivals(setting, nodes, loop, draw))
    loop.run()
    return store, result
