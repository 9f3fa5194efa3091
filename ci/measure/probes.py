"""Probes: cost while disabled, and under bpftrace."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from .common import FULL, Median, ROOT, build, built, instructions, median_ratio, nanoseconds, room, say, taken_in_turns, until_met

BPFTRACE = Path(os.environ.get("DYNTRACE_TRACERS", ROOT / "target" / "tracers")) / "bin" / "bpftrace"
WORKLOAD = ROOT / "benches" / "workload"


def disabled():
    loop, passes = build("probe_loop"), 1_000_000
    bare = instructions(loop, "none", passes)
    for peer, limit in ("dyntrace", 2), ("dyntrace-entry", 2), ("usdt", None), ("probe", None):
        added = round((instructions(loop, peer, passes) - bare) / passes, 2)
        if limit is None:
            print(f"{'  beside it: ' + peer:<58} {added:>9.4g}", flush=True)
        else:
            say(f"instructions a disabled probe adds, {peer}", added, limit)
    loop = build("traced_loop")
    function, unset = (instructions(loop, case, passes) for case in ("function", "unset"))
    say("instructions `traced` adds to a function nobody traces", round((unset - function) / (1.1 * passes), 2), 2)


# The program of benches/workload makes 2,000 passes of 6 operations with 6 probes each, and fires one of its own.
FIRED = 2_000 * (6 * 6 + 1)
# A compare and a jump.
CHECK = 2


def workload():
    def ratio(whole):
        programs = (build("dyntrace-workload", package=WORKLOAD, probes=probes, whole=whole) for probes in (True, False))
        with_probes, without = map(instructions, programs)
        print(f"  instructions: with probes {with_probes}, without {without}")
        return round(with_probes / without, 4), round(1 + FIRED * CHECK / without, 4)

    # Any change of a crate may change its codegen units, and so which functions are inlined.
    measured, floor = ratio(whole=True)
    # .ci/run fails above this.
    say("file operations with probes compiled in, nobody tracing", measured, 1.003, " x",
        beside=f"with a compare and a jump for each probe, and nothing else, {floor:.4f} x")
    if FULL:
        print(f"{'  beside it: crates compiled in pieces, as by default':<58} {ratio(whole=False)[0]:>9.4g} x", flush=True)


def polls():
    count = 100_000
    added = {}
    for probes in True, False:
        program = build("polls", package=WORKLOAD, probes=probes, whole=True)
        # Two runs, so that what the program does besides is not counted.
        added[probes] = (instructions(program, 2 * count) - instructions(program, count)) / count
        bare = (instructions(program, "tokio", 2 * count) - instructions(program, "tokio", count)) / count
    print(f"  instructions of a poll: {added[True]:.1f}, without probes {added[False]:.1f}, of tokio::spawn {bare:.1f}")
    # Asked: 4. The fifth is an address that the compiler takes before the probes.
    say("instructions the disabled probes add to a poll", round(added[True] - added[False], 2), 4)


def waits():
    program = build("waits", package=WORKLOAD, whole=True)

    def against_tokio(operation, count, kept, limit):
        def ratio(effort):
            ours, theirs = taken_in_turns(7 * effort, lambda: spent(program, operation, "dyntrace", count, kept=kept),
                                          lambda: spent(program, operation, "tokio", count))
            nanoseconds(operation, dyntrace=ours, tokio=theirs)
            return median_ratio(ours, theirs)

        table = ", table kept" if kept else ""
        say(f"{operation} with nothing to wait for{table}, against tokio", until_met(ratio, limit), limit, " x")

    # A sleep takes a millisecond.
    for operation, count in ("mutex", 2_000_000), ("semaphore", 2_000_000), ("mpsc", 2_000_000), ("sleep", 1_000):
        against_tokio(operation, count, False, 1.05)
        against_tokio(operation, count, True, 1.15)


def table():
    program, count = build("polls", package=WORKLOAD, whole=True), 5_000_000

    def added(effort):
        kept, alone = taken_in_turns(7 * effort, lambda: spent(program, count, kept=True), lambda: spent(program, count))
        nanoseconds("a poll", kept=kept, alone=alone)
        return statistics.median(with_table - without for with_table, without in zip(kept, alone))

    say("ns that the table of tasks adds to a poll", round(until_met(added, 12), 2), 12)

    standing = build("standing", package=WORKLOAD, whole=True)
    listed(standing, "ps --dead TABLE")
    described = build("standing", package=WORKLOAD, described=True)
    listed(described, "ps --table -p PID")
    with room() as folder:
        stripped = shutil.copy(standing, folder)
        subprocess.run(["strip", stripped], check=True)
        listed(stripped, "ps --table -p PID", of=", stripped")
        listed(stripped, "ps -p PID", of=", stripped, also from memory", limits=False)
    listed(described, "ps -p PID", of=", with debug information, also from memory", limits=False)


def listed(standing, command, of="", limits=True):
    """Measures the time and the memory of a command that lists a million tasks from a table."""
    tasks, memory = 1_000_000, []
    with room() as folder:
        program = subprocess.Popen([standing, str(tasks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=folder, DYNTRACE="tasks"))
        program.stdout.readline()
        reader = built("--package", "dyntrace-cli", "--bin", "dyntrace") / "dyntrace"
        words = {"TABLE": f"{folder}/dyntrace/{program.pid}.tasks", "PID": str(program.pid)}
        command_line = [reader, *(words.get(word, word) for word in command.split())]

        def seconds(effort):
            took = []
            for _ in range(5 * effort):
                began = time.monotonic()
                process = subprocess.Popen(command_line, stdout=subprocess.PIPE, text=True)
                text = process.stdout.read()
                _, _, usage = os.wait4(process.pid, 0)
                took.append(time.monotonic() - began)
                memory.append(usage.ru_maxrss)
                if f"{tasks} tasks in the table" not in text and f", which has {tasks} tasks" not in text:
                    sys.exit(f"ci/bench: {text}")
            return statistics.median(took)

        what = f"`{command}`, {tasks} tasks{of}"
        if limits:
            say(f"s of {what}", until_met(seconds, 1), 1)
            say("MB of its memory at most", round(max(memory) * 1024 / 1e6), 200)
        else:
            print(f"  beside it: {what}: {seconds(1):.2f} s, {max(memory) * 1024 / 1e6:.0f} MB", flush=True)
        program.communicate("end\n")


def spent(*command, kept=False):
    """What a program prints of its CPU time, with a table of its tasks if it is to keep one."""
    with room() as folder:
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder)
        if kept:
            environment["DYNTRACE"] = "tasks"
        return float(subprocess.run([*map(str, command)], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def hit(loop, peer, provider):
    """CPU nanoseconds of one hit while bpftrace counts it."""
    passes = 200_000
    program = subprocess.Popen([loop, peer, str(passes), "--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # By /proc/PID/exe: the plain path together with -p counts every hit twice.
    binary = f"/proc/{program.pid}/exe"
    tracer = subprocess.Popen(
        [BPFTRACE, "-p", str(program.pid), "-e", f"usdt:{binary}:{provider}:hit {{ @hits = count(); }}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in tracer.stderr:
        if line.startswith("Attached"):
            break
    spent, _ = program.communicate("go\n")
    counted, _ = tracer.communicate()
    if f"@hits: {passes}" not in counted:
        sys.exit(f"ci/bench: bpftrace counted {counted.strip() or 'nothing'} of {passes} hits of {provider}")
    return float(spent)


def enabled():
    default, nop5 = build("probe_loop"), build("probe_loop", "nop5")

    def against_probe(loop):
        def ratio(effort):
            pairs = [(hit(loop, "dyntrace", "peers_dyntrace"), hit(default, "probe", "peers_probe")) for _ in range(9 * effort)]
            ours, theirs = (statistics.median(costs) for costs in zip(*pairs))
            print(f"  ns of CPU per hit, medians of {len(pairs)}: dyntrace {ours:.0f}, probe {theirs:.0f}")
            return Median(ours / theirs for ours, theirs in pairs)
        return ratio

    say("a hit under bpftrace, default site, against `probe`", until_met(against_probe(default), 1.05), 1.05, " x")
    say("a hit under bpftrace, 5-byte site, against `probe`", until_met(against_probe(nop5), 0.55), 0.55, " x")
