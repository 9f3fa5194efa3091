"""The recorder: cost of an event, lost events, speed of reading, and sizes of conversions."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .common import FULL, Median, build, built, install, instructions, median_ratio, nanoseconds, room, say, taken_in_turns, until_all_met, until_met
from .lttng import Lttng


# Recorders of other crates. `sparkles` has events without arguments, and fastrace's reporter here forgets its spans.
OTHERS = ["dial9", "sparkles", "fastrace", "tracing"]


def size(directory):
    """Bytes of all files in a directory."""
    return sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())


class Loop:
    """The recording loop, for dyntrace and for peers without a daemon."""

    def __init__(self, directory):
        self.binary, self.directory = build("record_loop"), directory

    def costs(self, recorder, payload, *options):
        """CPU nanoseconds of one event, of each thread."""
        with tempfile.TemporaryDirectory(dir=self.directory) as trace:
            return self.costs_into(trace, recorder, payload, *options)

    def costs_into(self, trace, recorder, payload, *options):
        run = subprocess.run([self.binary, recorder, payload, "--directory", trace, *map(str, options)],
                             stdout=subprocess.PIPE, text=True, check=True)
        return [float(line) for line in run.stdout.split()]

    def size(self, recorder, payload, events):
        """Bytes that are recorded of so many events, and of a tenth more."""
        with tempfile.TemporaryDirectory(dir=self.directory) as trace:
            self.costs_into(trace, recorder, payload, "--events", events)
            return size(trace)

    def cost(self, recorder, payload, *options):
        """The same of the thread with the most expensive events."""
        return max(self.costs(recorder, payload, *options))


def recorder():
    install("lttng-tools", "liblttng-ust-dev")
    with room() as directory, Lttng(directory) as lttng:
        loop = Loop(directory)
        with lttng.session("overwrite", "256k"):
            for payload, limits in ("one", {"LTTng-UST": 0.25, "the floor": 1.2}), ("entry", {"LTTng-UST": 0.30, "the floor": 2.0}):
                floors = []
                ratios = until_all_met(lambda effort: against_others(loop, lttng, payload, 7 * effort, floors), limits.values())
                for (other, limit), ratio in zip(limits.items(), ratios):
                    beside_it = f"a floor that signal handlers may interrupt {floors[-1]:.3g} x" if other == "the floor" else ""
                    say(f"{payload}: an event recorded, against {other}", ratio, limit, " x", beside=beside_it)
        for payload in "one", "entry":
            beside(loop, lttng, payload)
        say("a core's cost with two threads, against one thread", until_met(lambda effort: two_threads(loop, 7 * effort), 1.1), 1.1, " x")
        say("ns of a dropped event, discard mode", until_met(lambda effort: dropped(loop, 7 * effort), 10), 10)
        for payload in "one", "entry":
            say(f"instructions of a probe that no session records, {payload}", idle(loop, payload), 2)


def against_others(loop, lttng, payload, times, floors):
    """Against LTTng-UST, and against the floor. Adds to `floors` that of an event which signal handlers may interrupt."""
    ours, theirs, floor, guarded = taken_in_turns(
        times, lambda: loop.cost("overwrite", payload), lambda: lttng.cost(payload),
        *(lambda recorder=recorder: loop.cost(recorder, payload) for recorder in ("floor", "guarded")))
    nanoseconds(f"{payload}, medians of {times}", dyntrace=ours, LTTng_UST=theirs, floor=floor, guarded_floor=guarded)
    floors.append(median_ratio(guarded, floor))
    return [median_ratio(ours, theirs), median_ratio(ours, floor)]


def beside(loop, lttng, payload):
    """Figures printed for comparison, without a limit."""
    with lttng.session("discard", "8M"):
        ours, theirs = taken_in_turns(5, lambda: loop.cost("stream", payload), lambda: lttng.cost(payload))
    nanoseconds(f"{payload}, streaming to disk", dyntrace=ours, LTTng_UST=theirs)
    with lttng.session("discard", "4k"):
        theirs, = taken_in_turns(3, lambda: lttng.cost(payload))
    others = dict(zip(OTHERS, taken_in_turns(3, *(lambda peer=peer: loop.cost(peer, payload, "--events", 100_000) for peer in OTHERS))))
    nanoseconds(f"{payload}, others", LTTng_UST_losing_most=theirs, **others)

    events = 100_000
    shutil.rmtree(lttng.home / "discard")
    with lttng.session("discard", "8M"):
        lttng.cost(payload, events)
    sizes = {"dyntrace": loop.size("stream", payload, events), "LTTng-UST": size(lttng.home / "discard")}
    sizes |= {peer: loop.size(peer, payload, events) for peer in OTHERS if peer != "fastrace"}
    # Each loop fires a tenth of the events before it measures.
    print(f"  bytes of an event, {payload}: " + ", ".join(f"{name} {bytes / (1.1 * events):.1f}" for name, bytes in sizes.items()), flush=True)


def two_threads(loop, times):
    one, two, floor, floor_two = taken_in_turns(times, *(
        lambda recorder=recorder, threads=threads: loop.cost(recorder, "entry", "--threads", threads)
        for recorder in ("overwrite", "floor") for threads in (1, 2)))
    nanoseconds(f"entry, one and two threads, medians of {times}", one=one, the_dearer_of_two=two, floor=floor, floor_of_two=floor_two)
    return median_ratio(two, one)


def dropped(loop, times):
    one, entry = taken_in_turns(times, *(
        lambda payload=payload: loop.cost("discard", payload, "--size", 64 << 10) for payload in ("one", "entry")))
    nanoseconds(f"dropped, medians of {times}", one=one, entry=entry)
    return Median(entry)


def idle(loop, payload):
    """Instructions of a pass beyond those of the empty loop, counted only in the function of the loop."""
    events = 100_000
    function = {"one": "*ones*", "entry": "*entries*"}[payload]
    with_probe, bare = (
        instructions(loop.binary, recorder, payload, "--events", events, "--directory", loop.directory, collect=function)
        for recorder in ("idle", "none"))
    return round((with_probe - bare) / (1.1 * events), 2)


def flood():
    asked, bytes_of_one = 35_000_000, 130
    with room() as directory:
        # Half of the free space, so that other programs have enough.
        events = min(asked, shutil.disk_usage(directory).free // 2 // bytes_of_one) // 2 * 2
        if events < asked:
            print(f"  only {events} events, for want of room in {directory}", flush=True)
        lost, seconds, costs = recorded(Loop(directory), directory, events)
        print(f"  {events} events in {seconds:.0f} s, with a tenth more to warm up; ns of CPU per event: {costs}", flush=True)
        say("events lost of two threads at full speed", lost, 0)


def recorded(loop, trace, events):
    """Has two threads record `events` events of `entry` into `trace`: returns lost events, seconds, and cost of one event."""
    started = time.monotonic()
    costs = loop.costs_into(trace, "stream", "entry", "--threads", 2, "--events", events // 2, "--size", 8 << 30)
    seconds = time.monotonic() - started
    count = subprocess.run([build("count_events"), trace, "entry"], stdout=subprocess.PIPE, text=True, check=True)
    there, known_lost = map(int, count.stdout.split())
    fired = 2 * (events // 2 + events // 2 // 10)
    if there + known_lost != fired:
        sys.exit(f"ci/bench: {fired} events fired, {there} recorded, {known_lost} said to be lost")
    return known_lost, seconds, costs


# Bytes of OPEN, FSTAT, three READs and CLOSE, with a tag of 14 bytes, with headers of 10 bytes and one form of each class (2bb9063).
BEFORE = {"the request": 1463, "its efile_drv-entry events": 538}


def request():
    """Bytes of the events of one request of a file server."""
    run = subprocess.run([build("request_bytes")], stdout=subprocess.PIPE, text=True, check=True)
    sizes = json.loads(run.stdout)
    now = dict(zip(BEFORE, (sizes.pop("dyntrace:*"), sizes["dyntrace:efile_drv-entry"])))
    print("  of each probe: " + ", ".join(f"{probe.removeprefix('dyntrace:')} {size}" for probe, size in sizes.items()), flush=True)
    for (what, before), asked in zip(BEFORE.items(), (0.5, 0.6)):
        say(f"bytes of {what}, against those before events had compact headers", now[what] / before, asked, " x", beside=f"{now[what]} bytes")


def storm():
    binary = built("--example", "file_storm") / "examples" / "file_storm"
    seconds = 1

    def operations(traced, *options):
        with room() as trace:
            environment = {"DYNTRACE": f"record:{trace}/t,probes=efile_drv*+aio_pool*"} if traced else {}
            run = subprocess.run([binary, "--tasks", "16", "--seconds", str(seconds), *options],
                                 env=os.environ | environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(run.stdout)["total"]

    def throughput(*options):
        def ratio(effort):
            plain, traced = taken_in_turns(7 * effort, lambda: operations(False, *options), lambda: operations(True, *options))
            per_second = [statistics.median(samples) / seconds for samples in (plain, traced)]
            print(f"  operations a second, medians of {len(plain)}: {per_second[0]:.0f}, recorded {per_second[1]:.0f}", flush=True)
            return median_ratio(plain, traced)
        return ratio

    limit = round(1 / 0.85, 3)
    say("file_storm unrecorded, against recorded", until_met(throughput(), limit), limit, " x")
    say("file_storm on a file system in memory, likewise", until_met(throughput("--dir", "/dev/shm"), limit), limit, " x")


def view():
    install("babeltrace2")
    dyntrace = built("-p", "dyntrace-cli") / "dyntrace"
    with room() as trace:
        recorded(Loop(trace), trace, 10_000_000 if FULL else 1_000_000)

        def seconds(*command):
            started = time.monotonic()
            subprocess.run([*command, trace], stdout=subprocess.DEVNULL, check=True)
            return time.monotonic() - started

        def ratio(effort):
            ours, theirs = taken_in_turns(3 * effort, lambda: seconds(dyntrace, "view"), lambda: seconds("babeltrace2"))
            print(f"  seconds, medians of {len(ours)}: dyntrace view {statistics.median(ours):.2f}, babeltrace2 {statistics.median(theirs):.2f}")
            return median_ratio(ours, theirs)

        limit = round(1 / 3, 3)
        say("time of `dyntrace view`, against babeltrace2", until_met(ratio, limit), limit, " x")


def perfetto():
    dyntrace, storm = built("-p", "dyntrace-cli") / "dyntrace", built("--example", "file_storm") / "examples" / "file_storm"
    with room() as folder:
        trace, converted = f"{folder}/trace", f"{folder}/trace.perfetto"
        subprocess.run([storm, "--tasks", "16", "--operations", "20000" if FULL else "2000"],
                       env=os.environ | {"DYNTRACE": f"record:{trace}"}, stdout=subprocess.DEVNULL, check=True)
        subprocess.run([dyntrace, "convert", trace, "--to", "perfetto", "-o", converted], check=True)
        size = sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(trace) for name in names)
        print(f"  MB: trace {size / 1e6:.1f}, Perfetto {os.path.getsize(converted) / 1e6:.1f}", flush=True)
        say("Perfetto file against its trace", os.path.getsize(converted) / size, 1.5, " x")
