"""Shared by the figures: builds and measures programs, and compares figures with their limits."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "benches" / "peers"
TARGET = PEERS / "target"
FULL = os.environ.get("DYNTRACE_BENCH") == "full"
FIGURES = []


class Figure(NamedTuple):
    what: str
    measured: str
    # From the least to the most of the samples, where the figure is a median.
    spread: str
    asked: str
    # What else was measured, as the floor.
    beside: str
    is_met: bool


class Median(float):
    """The median of samples, which keeps their spread."""

    def __new__(cls, samples):
        samples = sorted(samples)
        one = super().__new__(cls, statistics.median(samples))
        one.spread = f"{samples[0]:.3g} to {samples[-1]:.3g}"
        return one


def say(what, measured, limit, unit="", least=False, beside=""):
    is_met = measured >= limit if least else measured <= limit
    spread = getattr(measured, "spread", "")
    figure = Figure(what, f"{measured:.4g}{unit}", spread, f"at {'least' if least else 'most'} {limit:g}{unit}", beside, is_met)
    others = "; ".join(filter(None, [spread, beside]))
    print(f"{what:<58} {figure.measured:>12}   asked: {figure.asked}   {'ok' if is_met else 'MISSED'}"
          f"{f'   ({others})' if others else ''}", flush=True)
    FIGURES.append(figure)


def built(*arguments):
    """Builds a part of the workspace and returns its path."""
    subprocess.run(["cargo", "build", "--release", "--quiet", *arguments], cwd=ROOT, check=True)
    return ROOT / "target" / "release"


def build(binary, *features, package=PEERS, probes=True, whole=False, unstable=False, described=False):
    """Builds one program of a package with the features, and returns its path.

    If so asked, each crate is compiled as a whole, tokio has its unstable hooks, and debug information describes types."""
    target = package / "target" / ("-".join(features) or ("default" if probes else "off"))
    environment = dict(os.environ)
    if whole:
        target /= "whole"
        environment["CARGO_PROFILE_RELEASE_CODEGEN_UNITS"] = "1"
    if not probes:
        environment["RUSTFLAGS"] = "--cfg dyntrace_without_probes"
    if unstable:
        target /= "unstable"
        environment["RUSTFLAGS"] = "--cfg tokio_unstable"
    if described:
        target /= "described"
        environment["CARGO_PROFILE_RELEASE_DEBUG"] = "2"
    command = ["cargo", "build", "--release", "--quiet", "--bin", binary, "--target-dir", target]
    if features:
        command += ["--features", ",".join(features)]
    subprocess.run(command, cwd=package, env=environment, check=True)
    return target / "release" / binary


def instructions(*command, collect=None):
    """Instructions of the whole program, or of the functions that match the pattern `collect`."""
    collect = [f"--toggle-collect={collect}"] if collect else []
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *collect, *map(str, command)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def until_met(measure, limit):
    """Measures once and, on a noisy machine that misses the limit, with three times as many samples."""
    return until_all_met(lambda effort: [measure(effort)], [limit])[0]


def until_all_met(measure, limits):
    """The same of several values with a limit each."""
    values = measure(1)
    return values if all(value <= limit for value, limit in zip(values, limits)) else measure(3)


class Beside:
    """Busy loops beside the programs that are measured."""
    loops = 0


@contextmanager
def busy_loops(count):
    Beside.loops = count
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in running:
            loop.kill()
            loop.wait()


def go_first():
    """Reserves the cores where that is allowed and no busy loops are asked for: few threads and many do not share evenly what other
    programs leave."""
    os.setsid()
    if Beside.loops:
        return
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text("-20")
    with suppress(OSError):
        os.nice(-20)


def install(*packages):
    if subprocess.run(["dpkg", "-s", *packages], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        subprocess.run(["apt-get", "update", "-q"], stdout=sys.stderr, check=True)
        subprocess.run(["apt-get", "install", "-yq", "--no-install-recommends", *packages], stdout=sys.stderr, check=True)


def room():
    TARGET.mkdir(exist_ok=True)
    # LTTng's daemons may still write while they end: do not wait for that.
    return tempfile.TemporaryDirectory(dir=TARGET, ignore_cleanup_errors=True)


def taken_in_turns(times, *measures):
    """The samples of each measure."""
    return list(zip(*([measure() for measure in measures] for _ in range(times))))


def median_ratio(ours, theirs):
    return Median(one / other for one, other in zip(ours, theirs))


def nanoseconds(what, **samples):
    medians = ", ".join(f"{name.replace('_', ' ')} {statistics.median(values):.1f}" for name, values in samples.items())
    print(f"  ns of CPU per event, {what}: {medians}", flush=True)
