"""Polls of a task that are recorded or watched: the CPU time that this adds to one.

All peers run with tokio_unstable, without which tokio tells of polls neither to dial9 nor to console-subscriber. The latter is in a build
of its own, as it needs `tracing` in tokio, for which all polls pay.
"""

import statistics
import subprocess
from typing import NamedTuple

from .common import FULL, ROOT, build, median_ratio, room, say, taken_in_turns

PACKAGE = ROOT / "benches" / "polls"
POLLS, LINES = 2_000_000, 100_000
ROUNDS = 15 if FULL else 7


class Cost(NamedTuple):
    """Nanoseconds of CPU of a poll: those of the thread that polls, and those of the process until all is written."""
    thread: float
    process: float

    def __sub__(self, other):
        return Cost(self.thread - other.thread, self.process - other.process)


def polled():
    program = build("polls-bench", package=PACKAGE, unstable=True)
    with_console = build("polls-bench", "console", package=PACKAGE, unstable=True)
    added = against_bare(program, "clock", "idle", "stream", "overwrite", "hooks", "dial9", "dial9-wakes", "monitor")
    if not is_met(added):
        more = against_bare(program, *added)
        added = {peer: taken + more[peer] for peer, taken in added.items()}
    added |= against_bare(program, "spans", polls=LINES)
    added |= against_bare(with_console, "console", polls=LINES)
    for peer, costs in added.items():
        thread, process = zip(*costs)
        print(f"  ns of CPU added to a poll, {peer}: {told(process)}; of its thread {told(thread)}", flush=True)
    for mode in "stream", "overwrite":
        say(f"ns that recording adds to a poll, {mode}", round(median(added[mode]), 2), 25)
        print(f"  of which two readings of the clock alone add {told([cost.process for cost in added['clock']])}", flush=True)
        say(f"the same against dial9, {mode}", against_dial9(added, mode), 0.5, " x")


def is_met(added):
    return all(median(added[mode]) <= 25 and against_dial9(added, mode) <= 0.5 for mode in ("stream", "overwrite"))


def against_dial9(added, mode):
    return median_ratio(*([cost.process for cost in added[peer]] for peer in (mode, "dial9")))


def median(costs):
    return statistics.median(cost.process for cost in costs)


def told(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def against_bare(program, *peers, polls=POLLS):
    """What each peer adds to a poll of `tokio::spawn`, in each round."""
    bare, *taken = taken_in_turns(ROUNDS, *(lambda peer=peer: cost(program, peer, polls) for peer in ("bare", *peers)))
    print(f"  ns of CPU of a poll of tokio::spawn: {told([one.process for one in bare])}", flush=True)
    return {peer: [one - alone for one, alone in zip(costs, bare)] for peer, costs in zip(peers, taken)}


def cost(program, peer, polls):
    with room() as folder:
        run = subprocess.run([program, peer, "--polls", str(polls), "--directory", folder], stdout=subprocess.PIPE, text=True, check=True)
    return Cost(*map(float, run.stdout.split()))
