"""The tasks of a tokio program, read from outside: time, memory, and what the program feels of it."""

import json
import os
import resource
import statistics
import subprocess
import time

from .common import ROOT, build, built, median_ratio, say, taken_in_turns, until_met

TARGET = ROOT / "target" / "tasks" / "bench"


def tasks():
    environment = dict(os.environ, CARGO_PROFILE_RELEASE_DEBUG="2")
    # The command's build leaves out those of this package.
    types = ["--config", "profile.release.package.dyntrace-tasks.debug=2"]
    command = ["cargo", "build", "--release", "--quiet", "--package", "dyntrace-tasks", "--examples", "--target-dir", TARGET, *types]
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


def diagnose():
    """A program with 10,000 tasks and no idle processor while `dyntrace diagnose` watches it, against nobody watching."""
    busy = build("busy", package=ROOT / "benches" / "diagnose", described=True)
    dyntrace = built("--package", "dyntrace-cli") / "dyntrace"
    seconds, own, late = 10, [], []

    def turns(watched):
        program = subprocess.Popen([busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begun = time.monotonic()
        if watched:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([dyntrace, "diagnose", "-p", str(program.pid), "--for", f"{seconds}s"], capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            late.append(time.monotonic() - begun - seconds)
            own.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / (seconds + late[-1]))
        else:
            time.sleep(seconds)
        count, p99 = program.communicate()[0].split()
        return int(count) / (time.monotonic() - begun), int(p99)

    watched, alone = taken_in_turns(7, lambda: turns(True), lambda: turns(False))
    of = lambda samples, part: [sample[part] for sample in samples]
    say("turns of 10000 busy tasks while they are watched", median_ratio(of(watched, 0), of(alone, 0)), 0.98, " x", least=True)
    say("the time of such a turn, 99 of 100", median_ratio(of(watched, 1), of(alone, 1)), 1.05, " x")
    say("of a processor for watching", statistics.median(own), 0.1)
    say("s until the verdict, beyond the watch", statistics.median(late), 1)
