"""The figures of the whole file API, for `ci/bench breadth`: each use with `dyntrace::fs` and `tokio::fs` in turns, and as bare calls.

A ratio is the median of the ratios within each repetition, for CPU time and p99, too.
"""

import itertools
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from measure.common import go_first, install

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
BINARY = TARGET / "release" / "breadth"

USES = ["seek-read", "seek-write", "read-at", "write-at", "rewind", "read-64k", "reader", "append", "append-flush", "append-one-file",
        "append-sync", "writer", "set-len", "set-permissions", "file-metadata", "try-clone", "open", "stat", "exists", "read-link",
        "canonicalize", "read-small", "write-4k", "write-1m", "write-rename", "copy-16k", "copy-64m", "create-remove", "rename",
        "link-remove", "symlink-remove", "mkdir-rmdir", "trees", "list-types", "list-metadata"]
# These move so much that more in flight would only take turns.
MOST_IN_FLIGHT = {"copy-64m": 1, "reader": 16}
RUNTIMES = {"one-thread": 0, "two-workers": 2}
IN_FLIGHT = [1, 16, 256]
PLACES = ["ext4", "xfs", "tmpfs"]
REPETITIONS = 3

CACHED = ["seek-read", "read-at"]
IN_ONE_DIRECTORY = ["rename", "create-remove", "link-remove"]
HANDED_OVER = ["append-flush", "set-len", "set-permissions", "read-link"]


class Cell(NamedTuple):
    place: str
    runtime: str
    in_flight: int
    use: str

    def asked(self):
        """The least speed and the most CPU time relative to `tokio::fs`, and the most CPU time in us."""
        if self.use == "append-sync":
            return 0.98, 1, math.inf
        if self.use in CACHED:
            return 8, 1, 1.5
        if self.use in IN_ONE_DIRECTORY and self.in_flight > 1:
            return 1.8, 0.6, math.inf
        if self.use in HANDED_OVER and self.in_flight == 1 and self.runtime == "one-thread":
            return 1.5, 0.7, math.inf
        return 1, 1, math.inf


class Done:
    """The runs of a cell."""

    def __init__(self, cell):
        self.cell = cell
        self.ours, self.theirs = [], []

    def of(self, key):
        return statistics.median(one[key] for one in self.ours)

    def ratio(self, key):
        return statistics.median(ours[key] / max(theirs[key], 1e-3) for ours, theirs in zip(self.ours, self.theirs))

    def missed(self):
        speed, cost, time = self.cell.asked()
        judged = {"speed": (self.ratio("per_second"), speed, True), "CPU": (self.ratio("cpu_us"), cost, False),
                  "us of CPU": (self.of("cpu_us"), time, False), "p99": (self.ratio("p99_us"), 1, False)}
        return {what: (value, asked) for what, (value, asked, least) in judged.items() if (value < asked if least else value > asked)}


def measure(say, full, only):
    """Measures all cells or, of each dimension of which `only` has words, those with these words."""
    words = set(only)
    dimensions = [list(map(str, all_of)) for all_of in (PLACES, RUNTIMES, IN_FLIGHT, USES)]
    if unknown := words - set(itertools.chain(*dimensions)):
        raise SystemExit(f"ci/bench: breadth has no {', '.join(unknown)}; it has {' '.join(itertools.chain(*dimensions))}")
    places, runtimes, in_flight, uses = ([word for word in all_of if word in words] or all_of for all_of in dimensions)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", "breadth"], cwd=HERE, check=True)
    for place in places:
        with directory(place) as there:
            if not there:
                print(f"  {place}: skipped, as this machine cannot mount one", flush=True)
                continue
            done = []
            for use in uses:
                bare = run(there, "bare", Cell(place, runtimes[0], 1, use), full)
                cells = (Cell(place, runtime, int(number), use) for runtime in runtimes for number in in_flight)
                done += [judged(there, cell, bare, full) for cell in cells if cell.in_flight <= MOST_IN_FLIGHT.get(use, 256)]
        for runtime, number in itertools.product(runtimes, map(int, in_flight)):
            tell(say, f"{place}, {runtime}, {number} in flight", number, [one for one in done if one.cell[1:3] == (runtime, number)])


def judged(there, cell, bare, full):
    """The runs of a cell; twice as many if a figure is missed, as on a noisy machine."""
    done = Done(cell)
    for _ in range(2):
        for _ in range(REPETITIONS):
            done.ours.append(run(there, "dyntrace", cell, full))
            done.theirs.append(run(there, "tokio", cell, full))
        if not done.missed():
            break
    print(f"  {', '.join(map(str, cell)):<48} speed {done.ratio('per_second'):.2f} x, CPU {done.ratio('cpu_us'):.2f} x "
          f"({done.of('cpu_us'):.3g} us; bare {bare['cpu_us']:.3g}), p99 {done.ratio('p99_us'):.2f} x ({done.of('p99_us'):.3g} us)", flush=True)
    return done


def run(there, api, cell, full):
    # 256 writes of 1 MiB take half a second.
    seconds = (0.6 if full else 0.2) * max(1, cell.in_flight // 64)
    command = [BINARY, "--api", api, "--use", cell.use, "--in-flight", str(cell.in_flight), "--workers", str(RUNTIMES[cell.runtime]),
               "--dir", there, "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, preexec_fn=go_first, stdout=subprocess.PIPE, text=True, check=True).stdout)


def tell(say, where, in_flight, done):
    if not done:
        return
    for what in "speed", "CPU", "us of CPU", "p99":
        if what == "us of CPU" and not any(one.cell.use in CACHED for one in done):
            continue
        missed = {one.cell.use: one.missed()[what] for one in done if what in one.missed()}
        beside = ", ".join(f"{use} {value:.2f} (asked {asked:g})" for use, (value, asked) in missed.items())
        say(f"{where}: uses of {len(done)} that miss {what}", len(missed), 0, beside=beside)
    if asked := {1: 2.0, 16: 2.2}.get(in_flight):
        mean = statistics.geometric_mean(one.ratio("per_second") for one in done)
        say(f"{where}: geometric mean, against tokio::fs", mean, asked, " x", least=True)


@contextmanager
def directory(place):
    """A directory on a file system of this kind: a loop image, unless the disk has one; `None` where neither can be had."""
    with ExitStack() as stack:
        TARGET.mkdir(exist_ok=True)
        root = "/dev/shm" if place == "tmpfs" else TARGET
        if kind(root) != place:
            root = mounted(stack, place)
        yield root and stack.enter_context(tempfile.TemporaryDirectory(dir=root))


def kind(path):
    return subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, text=True, check=True).stdout.strip().replace("ext2/ext3", "ext4")


def mounted(stack, place):
    if os.geteuid():
        return None
    if place == "xfs" and not shutil.which("mkfs.xfs"):
        install("xfsprogs")
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=TARGET)))
    image, root = folder / "image", folder / "root"
    root.mkdir()
    with open(image, "wb") as file:
        file.truncate(4 << 30)
    subprocess.run([f"mkfs.{place}", "-q", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, root]).returncode:
        return None
    stack.callback(subprocess.run, ["umount", root], check=True)
    return root
