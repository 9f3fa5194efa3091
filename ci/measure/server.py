"""A file server under load: crates/tower/examples/file_server.rs, on `dyntrace::fs` against `tokio::fs`, in one program.

The servers take turns in each round, so that what else the machine does meets all. A ratio is the median of the ratios within each
round. wrk loads them over loopback, on the same processors. Server, load and tracer go before other programs where that is allowed: a
tracer that has less than its share loses events.
"""

import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .common import FULL, ROOT, build, built, go_first, install, median_ratio, room, say

SMALL, LARGE = 4 << 10, 4 << 20
SECONDS = 4 if FULL else 2
ROUNDS = 9 if FULL else 5


class Kind(NamedTuple):
    """A way to run the server."""
    arguments: tuple = ("--untagged",)
    environment: dict = {}
    script: str = ""

    @property
    def is_recorded(self):
        return "DYNTRACE" in self.environment


TOKIO = Kind(("--untagged", "--backend", "tokio"))
PLAIN = Kind()
POOL = Kind(environment={"DYNTRACE_INLINE": "off"})
TAGGED = Kind(arguments=())
RECORDED = Kind(arguments=(), environment={"DYNTRACE": "record:{trace}/t"})


class Sample(NamedTuple):
    per_second: float
    # Of the server, in microseconds.
    cpu_of_one: float
    # Of virtual memory at the end, in MiB.
    mapped: float
    lost: int


def server():
    install("wrk")
    # As a package of its own builds it, with the features of no other package.
    binary = build("file_server", package=ROOT / "benches" / "server")
    with room() as folder:
        place = Path(folder)
        (place / "public").mkdir()
        (place / "public" / "small").write_bytes(os.urandom(SMALL))
        (place / "public" / "large").write_bytes(os.urandom(LARGE))
        bench = Bench(binary, place)
        bench.compare("small", 16, {"default settings": (PLAIN, 1.5), "through the pool": (POOL, 1.2), "tagged": (TAGGED, 1.1),
                                    "tagged and recorded": (RECORDED, 1.1)})
        bench.compare("large", 4, {"default settings": (PLAIN, 1.0)})
        if runs_scripts():
            bench.compare("small", 16, {"efile_latency": (Kind(script="efile_latency"), 0.85)})
            samples = [bench.measured(Kind(arguments=(), script="efile_drv"), "small", 16) for _ in range(3)]
            rate = statistics.median(one.per_second for one in samples)
            print(f"  4 KiB, 16 connections, efile_drv: {rate:.0f} requests a second", flush=True)
            say("4 KiB, 16 connections: events lost by efile_drv", max(one.lost for one in samples), 0)


def runs_scripts():
    """Whether bpftrace itself runs the scripts: with an older one, dyntrace makes their lines of its events."""
    os.environ["PATH"] = f"{os.environ.get('DYNTRACE_TRACERS', ROOT / 'target' / 'tracers')}/bin:{os.environ['PATH']}"
    if not shutil.which("bpftrace") or os.geteuid() != 0:
        return False
    version = subprocess.run(["bpftrace", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    major, minor = map(int, re.search(r"(\d+)\.(\d+)", version).groups())
    if (major, minor) < (0, 24):
        print(f"  without the rows under bpftrace: {version.strip()} is older than 0.24", flush=True)
    return (major, minor) >= (0, 24)


class Bench:
    def __init__(self, binary, place):
        self.binary, self.place = binary, place

    def compare(self, file, connections, rows):
        kinds = {"tokio::fs": TOKIO} | {name: kind for name, (kind, _) in rows.items()}
        samples = {name: [] for name in kinds}

        def take(rounds):
            for _ in range(rounds):
                for name, kind in kinds.items():
                    samples[name].append(self.measured(kind, file, connections))

        def ratio(name):
            return median_ratio(*([one.per_second for one in samples[which]] for which in (name, "tokio::fs")))

        take(ROUNDS)
        if any(ratio(name) < least for name, (_, least) in rows.items()):
            take(2 * ROUNDS)
        what = f"{'4 KiB' if file == 'small' else '4 MiB'}, {connections} connections"
        for name, taken in samples.items():
            per_second, cpu, mapped, lost = (statistics.median(values) for values in zip(*taken))
            cpu_ratio = median_ratio(*([one.cpu_of_one for one in samples[which]] for which in (name, "tokio::fs")))
            print(f"  {what}, {name}: {per_second:.0f} requests a second, {cpu:.1f} us of CPU each ({cpu_ratio:.2f} x), "
                  f"{mapped:.0f} MiB of addresses, {lost:.0f} events lost; load {os.getloadavg()[0]:.1f}", flush=True)
        for name, (_, least) in rows.items():
            say(f"{what}: {name}, against tokio::fs", ratio(name), least, " x", least=True)

    def measured(self, kind, file, connections):
        with tempfile.TemporaryDirectory(dir=self.place) as trace, self.served(kind, trace) as (pid, address):
            url = f"http://{address}/{file}"
            with traced(kind.script, pid, trace):
                load(url, connections, 1)
                before = cpu_seconds(pid)
                done, seconds = load(url, connections, SECONDS)
                cpu = cpu_seconds(pid) - before
                mapped = mebibytes(pid)
            self.stop(pid)
            return Sample(done / seconds, 1e6 * cpu / done, mapped, lost(kind, trace))

    @contextmanager
    def served(self, kind, trace):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        environment = {name: value.replace("{trace}", trace) for name, value in kind.environment.items()}
        command = [self.binary, self.place / "public", address, *kind.arguments]
        self.process = subprocess.Popen(command, env=os.environ | environment, preexec_fn=go_first,
                                        stdout=subprocess.PIPE, text=True)
        try:
            if not self.process.stdout.readline().startswith("serves "):
                raise RuntimeError(f"{command} does not serve")
            yield self.process.pid, address
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def stop(self, pid):
        os.kill(pid, signal.SIGTERM)
        self.process.wait()


def load(url, connections, seconds):
    """Requests that were answered, and the seconds that they took."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        return loaded(script, url, connections, seconds)


def loaded(script, url, connections, seconds):
    script.write('done = function(summary) io.write(string.format("%d %d %d\\n", summary.requests, summary.duration, '
                 'summary.errors.status + summary.errors.read + summary.errors.connect)) end\n')
    script.flush()
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", script.name, url]
    run = subprocess.run(command, preexec_fn=go_first, stdout=subprocess.PIPE, text=True, check=True)
    done, microseconds, failed = map(int, run.stdout.splitlines()[-1].split())
    if failed:
        raise RuntimeError(f"{failed} of {done} requests of {url} failed")
    return done, microseconds / 1e6


@contextmanager
def traced(script, pid, folder):
    if not script:
        yield
        return
    command = [dyntrace(), "run", "--tracer", "bpftrace", script, "-p", str(pid)]
    with open(Path(folder) / "out", "w") as out, open(Path(folder) / "err", "w") as err:
        tracer = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=go_first)
        time.sleep(5)
        try:
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()


def lost(kind, folder):
    """Events that the tracer says it lost, or that the recorder's trace lacks."""
    if kind.script:
        text = (Path(folder) / "err").read_text()
        return sum(map(int, re.findall(r"dyntrace: (?:\S+ lost )?(\d+) (?:of \d+ lines lost|events)", text)))
    if kind.is_recorded:
        view = subprocess.run([dyntrace(), "view", Path(folder) / "t", "--probe", "none"], stderr=subprocess.PIPE, text=True)
        return sum(map(int, re.findall(r"(\d+) events? lost", view.stderr)))
    return 0


def dyntrace():
    return built("-p", "dyntrace-cli") / "dyntrace"


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def mebibytes(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmSize:\s+(\d+)", status).group(1)) / 1024
