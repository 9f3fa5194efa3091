"""An axum server under load: what a request costs while the server keeps a table of its tasks and records.

The servers of a build run beside each other, and each has its share of the load in each round, so that what else the machine does meets
all. Only the processor time of the server counts.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .common import FULL, ROOT, build, built, go_first, install, median_ratio, room, say
from .server import load

SECONDS = 2 if FULL else 1
ROUNDS = 15 if FULL else 9
CONNECTIONS = 16
# At least 0.97 of the throughput.
LIMIT = round(1 / 0.97, 3)
NEITHER, BOTH = "neither", "table and recorder"
KINDS = {NEITHER: "", "table": "tasks", BOTH: "tasks,record:{trace}", "table and recorder of all probes": "tasks,record:{trace},probes=*"}


def orders():
    install("wrk")
    for unstable in False, True:
        binary = build("orders", "tasks", package=ROOT / "benches" / "server", unstable=unstable)
        with room() as folder, ExitStack() as servers:
            running = {kind: servers.enter_context(served(binary, Path(folder), kind)) for kind in KINDS}
            for _, address in running.values():
                load(f"{address}/spawned/17", CONNECTIONS, 1)
            # Those of axum, one for each connection, are seen by tokio's hooks only.
            seen = tasks_in_the_table(*running[BOTH], Path(folder))
            if (seen > CONNECTIONS) != unstable:
                sys.exit(f"ci/bench: {seen} tasks in the table of a server with {CONNECTIONS} connections")
            build_of = "with tokio_unstable" if unstable else "as built by default"
            compare(running, "order", build_of)
            compare(running, "spawned", f"{build_of}, in a task of its own")


def compare(running, route, what):
    samples = {kind: [] for kind in running}

    def take(rounds):
        for _ in range(rounds):
            for kind, (pid, address) in running.items():
                samples[kind].append(cpu_of_one(pid, f"{address}/{route}/17"))

    def ratio(kind):
        return median_ratio(samples[kind], samples[NEITHER])

    take(ROUNDS)
    if ratio(BOTH) > LIMIT:
        take(2 * ROUNDS)
    for kind, taken in samples.items():
        ratios = [one / other for one, other in zip(taken, samples[NEITHER])]
        print(f"  us of CPU of a request, {what}, {kind}: {statistics.median(taken):.2f}; {ratio(kind):.3f} x "
              f"({min(ratios):.3f} to {max(ratios):.3f}); load {os.getloadavg()[0]:.1f}", flush=True)
    say(f"a request with table and recorder, {what}", round(ratio(BOTH), 3), LIMIT, " x")


@contextmanager
def served(binary, folder, kind):
    place = folder / kind.replace(" ", "-")
    place.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = dict(os.environ, XDG_RUNTIME_DIR=str(folder))
    if KINDS[kind]:
        environment["DYNTRACE"] = KINDS[kind].replace("{trace}", str(place / "trace"))
    process = subprocess.Popen([binary, address], env=environment, preexec_fn=go_first, stdout=subprocess.PIPE, text=True)
    try:
        if not process.stdout.readline().startswith("serves "):
            raise RuntimeError(f"{binary} does not serve")
        yield process.pid, f"http://{address}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def cpu_of_one(pid, url):
    """Microseconds of the server's CPU for a request."""
    before = cpu_nanoseconds(pid)
    done, _ = load(url, CONNECTIONS, SECONDS)
    return (cpu_nanoseconds(pid) - before) / done / 1e3


def cpu_nanoseconds(pid):
    """Of all threads: the server ends none of them."""
    return sum(int(schedstat.read_text().split()[0]) for schedstat in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def tasks_in_the_table(pid, address, folder):
    """How many tasks the table has while the server keeps connections."""
    host, port = address.removeprefix("http://").split(":")
    with ExitStack() as connections:
        for _ in range(CONNECTIONS):
            connection = connections.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(b"GET /order/17 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(1)
        dyntrace = built("-p", "dyntrace-cli", "--bin", "dyntrace") / "dyntrace"
        command = [dyntrace, "ps", "--json", "--dead", folder / "dyntrace" / f"{pid}.tasks"]
        listed = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return len(listed["tasks"])
