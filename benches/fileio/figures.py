"""The figures of file operations, for `ci/bench fileio`: their runs and results.

A cell is what peers do side by side; its repetitions take the peers in turn. A ratio is the median of the ratios within each
repetition, so that what else the machine does meets both. CPU time is that of the repetition with the least.
"""

import itertools
import json
import os
import statistics
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from measure.common import Median, go_first

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
BINARY = TARGET / "release" / "fileio"
STORM = TARGET / "release" / "storm"

TOKIO = "tokio-fs-mt"
OURS = ["dyntrace-mt", "dyntrace-ct", "dyntrace-pool-mt", "dyntrace-pool-ct", "dyntrace-inline-mt", "dyntrace-inline-ct"]
RINGS = ["tokio-uring", "compio", "monoio"]
# The calls of the kernel and nothing else. `std`: those that `tokio::fs` makes; `cached`: those that never wait. Another thread makes those
# of `tokio::fs` for a thread that waits (`handed`), or for tasks of tokio on several threads or one (`queued`).
FLOORS = ["std", "cached", "handed", "queued", "queued-ct"]
PEERS = [*OURS, TOKIO, "tokio-fs-ct", "spawn-blocking-mt", "spawn-blocking-ct", *RINGS, *FLOORS]
OPERATIONS = ["pread", "pwrite", "ofc", "stat", "rename", "readfile", "append", "append-shared"]
IN_FLIGHT = [1, 16, 256]
PLACES = ["disk", "tmpfs"]
REPETITIONS = 5
# Threads of the pool's fast lane by default.
WORKERS = max(2, len(os.sched_getaffinity(0)))


class Cell(NamedTuple):
    operation: str
    in_flight: int
    place: str

    def __str__(self):
        return f"{self.operation}, {self.in_flight} in flight, {self.place}"

    def allows(self, peer):
        # Where threads have more than one operation to do, they need not wake each other for each.
        if peer in ("handed", "queued", "queued-ct"):
            return (peer == "handed") == (self.in_flight == 1)
        return True


class Speed(NamedTuple):
    """Operations a second of one peer, relative to the best of others."""
    cell: Cell
    peer: str
    others: list
    least: float

    def peers(self):
        return [self.peer, *self.others]

    def measured(self, runs):
        repetitions = zip(*([one["per_second"] for one in runs[peer]] for peer in self.peers()))
        return Median(ours / max(others) for ours, *others in repetitions)

    def met(self, runs):
        return self.measured(runs) >= self.least

    def judge(self, say, runs):
        others = "io_uring" if self.others == RINGS else " ".join(self.others)
        floors = {floor: self._replace(peer=floor).measured(runs) for floor in FLOORS if floor in runs}
        beside = ", ".join(f"{floor} {ratio:.3g} x" for floor, ratio in floors.items())
        say(f"{self.cell}: {self.peer} / {others}", self.measured(runs), self.least, " x", least=True, beside=beside)


class Cost(NamedTuple):
    """CPU time of an operation of one peer, relative to the bare calls; each in the repetition with the least."""
    cell: Cell
    peer: str
    most: float

    def peers(self):
        return [self.peer]

    def measured(self, runs):
        return cpu(runs[self.peer]) / cpu(runs["std"])

    def met(self, runs):
        return self.measured(runs) <= self.most

    def judge(self, say, runs):
        beside = ", ".join(f"{floor} {cpu(runs[floor]) / cpu(runs['std']):.3g} x" for floor in ("cached", "queued"))
        say(f"{self.cell}: CPU time, {self.peer} / std", self.measured(runs), self.most, " x", beside=beside)


class Most(NamedTuple):
    """A resource use of one peer, in the repetition with the least, or most."""
    cell: Cell
    peer: str
    what: str
    key: str
    of_all: object
    most: float

    def peers(self):
        return [self.peer]

    def measured(self, runs):
        return self.of_all(one[self.key] for one in runs[self.peer])

    def met(self, runs):
        return self.measured(runs) <= self.most

    def judge(self, say, runs):
        say(f"{self.cell}: {self.what}, {self.peer}", self.measured(runs), self.most)


# By default, against `tokio::fs`.
FASTER = {
    1: {"pread": 2, "stat": 2, "ofc": 2, "rename": 2, "readfile": 2},
    16: {"pread": 5, "stat": 4, "ofc": 4, "rename": 1.6, "readfile": 2},
    256: {"pread": 8, "stat": 6, "ofc": 5, "rename": 1.6, "readfile": 2},
}


def figures():
    def faster(operation, in_flight, least, place="disk", peer="dyntrace-mt", others=(TOKIO,)):
        return Speed(Cell(operation, in_flight, place), peer, list(others), least)

    for in_flight, asked in FASTER.items():
        for operation, least in asked.items():
            yield faster(operation, in_flight, least)
    for operation in FASTER[16]:
        yield Cost(Cell(operation, 16, "disk"), "dyntrace-mt", 1.5)
    for in_flight in 16, 256:
        yield faster("pread", in_flight, 5, peer="dyntrace-pool-mt")
        yield faster("pread", in_flight, 2.5, others=["spawn-blocking-mt"])
        yield faster("pwrite", in_flight, 2)
        yield faster("pwrite", in_flight, 3, "tmpfs")
    yield faster("append", 16, 0.95)
    yield faster("append", 256, 1.2)
    yield faster("pread", 1, 2, peer="dyntrace-pool-mt")
    yield faster("pread", 1, 8, peer="dyntrace-inline-mt")
    # With default settings; the runtimes on io_uring have one thread.
    for operation, in_flight in itertools.product(["stat", "rename", "readfile"], [16, 256]):
        yield faster(operation, in_flight, 1, peer="dyntrace-ct", others=RINGS)
    for operation in "pread", "stat":
        yield Most(Cell(operation, 16, "disk"), "dyntrace-ct", "us of CPU", "cpu_us", min, 1.3)
        # Plus tokio's main thread and the pool's watch thread.
        yield Most(Cell(operation, 256, "disk"), "dyntrace-ct", "threads", "threads", max, 2 + WORKERS)


def measure(say, full):
    """Runs the cells of the figures, or each peer with each operation; judges, and prints tables of all runs."""
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)
    cells = {Cell(*cell): [] for cell in itertools.product(OPERATIONS, IN_FLIGHT, PLACES)}
    for figure in figures():
        cells[figure.cell].append(figure)
    table = {}
    with directories() as place:
        for cell, asked in cells.items():
            if asked or full:
                table[cell] = judged(say, cell, asked, place, full)
    print_tables(table)


def storm(say, full):
    """How long the threads of a runtime stand in operations, with each setting of the inline path; judges the adaptive one."""
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)
    with directories() as place:
        for mode in "off", "always", "adaptive":
            stood = stand(mode, place["disk"], 20 if full else 5)
            for what, times in stood.items():
                print(f"  storm, {mode}: {what}: " + ", ".join(f"{name} {value:.6g}" for name, value in times.items()), flush=True)
    # The other polls end at the pool's lock: compare them with those of `off`.
    say("storm: us that a thread stands in an operation answered inline, p99.99", stood["answered"]["p9999"], 100)


def scale(say, full):
    """How the CPU time of an operation grows when each core has a runtime of its own; beside it that of the bare calls."""
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)
    cores = len(os.sched_getaffinity(0))
    with directories() as place:
        for peer, operation in itertools.product(["dyntrace-ct", "dyntrace-pool-ct"], ["pread", "stat", "ofc", "rename"]):
            arrangements = [(peer, 16, 1), (peer, 16 * cores, cores), ("std", 1, 1), ("std", cores, 1)]
            times = {arrangement: [] for arrangement in arrangements}
            for _ in range(REPETITIONS):
                for who, in_flight, runtimes in arrangements:
                    cell = Cell(operation, in_flight, "disk")
                    done = run(cell, who, place["disk"], 0.8 if full else 0.4, "--runtimes", str(runtimes))
                    times[who, in_flight, runtimes].append(done["cpu_us"])
            one, all_cores, bare, all_bare = map(statistics.median, times.values())
            beside = f"{one:.2f} to {all_cores:.2f} us; std {all_bare / bare:.3g} x"
            say(f"{operation}: CPU time on {cores} cores, against one, {peer}", all_cores / one, 1.1, " x", beside=beside)


def stand(mode, directory, seconds):
    command = [STORM, "--mode", mode, "--dir", directory, "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, preexec_fn=go_first, stdout=subprocess.PIPE, text=True, check=True).stdout)


@contextmanager
def directories():
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET) as disk, tempfile.TemporaryDirectory(dir="/dev/shm") as tmpfs:
        yield {"disk": disk, "tmpfs": tmpfs}


def judged(say, cell, asked, place, full):
    """The runs of a cell by peer; twice as many if a figure is missed, as on a noisy machine."""
    named = {peer for figure in asked for peer in figure.peers()}
    named |= {"dyntrace-mt", "dyntrace-ct", TOKIO, *FLOORS}
    peers = [peer for peer in PEERS if cell.allows(peer) and (full or peer in named)]
    runs = {peer: [] for peer in peers}

    def take_in_turns():
        for _ in range(REPETITIONS):
            for peer in peers:
                runs[peer].append(run(cell, peer, place[cell.place], 0.8 if full else 0.4))

    take_in_turns()
    if not all(figure.met(runs) for figure in asked):
        take_in_turns()
    for peer in peers:
        print(f"  {cell}, {peer}: {speed(runs[peer]) / 1000:.1f} k/s, {cpu(runs[peer]):.1f} us of CPU each, "
              f"{max(one['threads'] for one in runs[peer])} threads", flush=True)
    for figure in asked:
        figure.judge(say, runs)
    return runs


def run(cell, peer, directory, seconds, *options):
    command = [BINARY, "--peer", peer, "--operation", cell.operation, "--in-flight", str(cell.in_flight),
               "--dir", directory, "--seconds", str(seconds), *options]
    done = subprocess.run(command, preexec_fn=go_first, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def speed(runs):
    return statistics.median(one["per_second"] for one in runs)


def cpu(runs):
    return min(one["cpu_us"] for one in runs)


def print_tables(table):
    """In Markdown: for each place and number in flight, peers by operations."""
    for place, in_flight in itertools.product(PLACES, IN_FLIGHT):
        columns = [table.get(Cell(operation, in_flight, place), {}) for operation in OPERATIONS]
        rows = [peer for peer in PEERS if any(peer in runs for runs in columns)]
        if rows:
            print(f"\n{place}, {in_flight} in flight: x {TOKIO} (us of CPU each)\n")
            print(f"| | {' | '.join(OPERATIONS)} |\n|---|{'---|' * len(OPERATIONS)}")
        for peer in rows:
            print(f"| {peer} | {' | '.join(in_table(runs, peer) for runs in columns)} |")
    print()


def in_table(runs, peer):
    if peer not in runs:
        return "–"
    if peer == TOKIO:
        return f"{speed(runs[peer]) / 1000:.1f} k/s ({cpu(runs[peer]):.1f})"
    ratio = statistics.median(one["per_second"] / other["per_second"] for one, other in zip(runs[peer], runs[TOKIO]))
    return f"{ratio:.2f} ({cpu(runs[peer]):.1f})"
