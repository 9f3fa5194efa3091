"""The tasks of a tokio program, read from outside: time, memory, and what the program feels of it."""

import json
import os
import statistics
import subprocess
import time

from .common import ROOT, median_ratio, say, taken_in_turns, until_met

TARGET = ROOT / "target" / "tasks" / "bench"


def tasks():
    environment = dict(os.environ, CARGO_PROFILE_RELEASE_DEBUG="2")
    command = ["cargo", "build", "--release", "--quiet", "--package", "dyntrace-tasks", "--examples", "--target-dir", TARGET]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)

    for count, limit in (100_000, 0.4), (1_000_000, 3):
        with Program("tasks_truth", count) as program:
            say(f"s to read {count} tasks, each with its chain", until_met(lambda effort: look(program, count, 5 * effort), limit), limit)
    with Program("tasks_truth", 100_000) as program:
        say("GB of heap searched in a second of one core", measured(program, 1)["scan"], 3, least=True)
        say("KiB of the reader's memory at most, 100000 tasks", measured(program, 2)["peak_kib"], 150 << 10)
    say("turns of a program that is looked at each second", throughput(), 0.99, " x", least=True)


class Program:
    """An example that runs until its standard input ends."""

    def __init__(self, name, *arguments):
        self.process = subprocess.Popen([TARGET / "release" / "examples" / name, *map(str, arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        # It is at rest then.
        while (line := self.process.stdout.readline()) and line.split()[0] not in ("ready", "100000", "1000000"):
            pass
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.rest = self.process.stdout.read()
        self.process.wait()


def measured(program, looks, pause=0):
    command = [TARGET / "release" / "examples" / "tasks_measure", str(program.process.pid), str(looks), str(pause)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def look(program, count, looks):
    """Seconds of a look. What it prepares for all looks is printed."""
    seen = measured(program, looks)
    if not seen["found"] == seen["counted"] == count:
        raise SystemExit(f"ci/bench: {seen['found']} tasks found, {seen['counted']} counted by the program, of {count}")
    median = statistics.median(seen["seconds"])
    print(f"  s, {count} tasks, medians of {looks}: prepared {seen['prepared']:.3f}, a look {median:.3f}; "
          f"{seen['chains']} chains, at most {seen['peak_kib'] >> 10} MiB", flush=True)
    return seen["prepared"] + median


def throughput():
    """Turns of a program while it is looked at, against nobody looking."""
    def turns(looks):
        with Program("chains_token") as program:
            begun = time.monotonic()
            if looks:
                measured(program, 3, 1000)
            else:
                time.sleep(3.1)
            taken = time.monotonic() - begun
        return int(program.rest.split()[-1]) / taken

    looked_at, left_alone = taken_in_turns(5, lambda: turns(True), lambda: turns(False))
    return median_ratio(looked_at, left_alone)
