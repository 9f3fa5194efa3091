"""A day of a fleet: the bytes that a question about one tag reads, and the times of questions as there are more hosts.

Two programs are recorded and converted. The day is their files, linked under the names of many hosts and of 24 hours; the second program
ran on one host, in one hour, and has a tag that no other file has.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from .common import FULL, ROOT, built, median_ratio, room, say, taken_in_turns

HOURS = 24
ROUNDS = 5
# More than in proportion to the hosts by at most this, which is the noise of a machine.
LINEAR = 1.1
DATE = "2026-11-26"
# Between the tags of the other program, so that least and greatest values do not tell that a file lacks it.
TAG = "req-15"
ONE_TAG = f"select * from operations where user_tag = '{TAG}' and date = '{DATE}'"


class Answer(NamedTuple):
    seconds: float
    rows: int
    read: int


def day():
    command = built("-p", "dyntrace-cli", "--bin", "dyntrace") / "dyntrace"
    storm = built("-p", "dyntrace", "--example", "file_storm") / "examples" / "file_storm"
    with room() as folder:
        folder = Path(folder)
        engines = {"DuckDB": duckdb(folder / "python")}
        if FULL:
            engines["dyntrace query"] = datafusion()

        files = recorded(folder / "large", command, storm, actions=16_000)
        data = spread(folder / "of-100", files, hosts=100)
        for name, ask in engines.items():
            answer = ask(data, ONE_TAG)
            print(f"  one tag in a day of 100 hosts, {name}: {told(answer, data)}", flush=True)
            say(f"bytes of one tag in a day of 100 hosts, {name}", round(100 * answer.read / size(data), 3), 2, " %")
        shutil.rmtree(data)

        files = recorded(folder / "small", command, storm, actions=200)
        few, many = (100, 1_000) if FULL else (10, 100)
        of_few, of_many = (spread(folder / f"of-{hosts}", files, hosts) for hosts in (few, many))
        for name, ask in engines.items():
            for what, text in ("one tag", ONE_TAG), ("slowest", question("slowest")), ("errors", question("errors")):
                less, more = taken_in_turns(ROUNDS, lambda: ask(of_few, text), lambda: ask(of_many, text))
                for hosts, answers, data in (few, less, of_few), (many, more, of_many):
                    print(f"  {what}, {hosts} hosts, {name}, median of {ROUNDS}: {told(sorted(answers)[ROUNDS // 2], data)}", flush=True)
                growth = median_ratio(*([answer.seconds for answer in answers] for answers in (more, less)))
                say(f"{what}, {name}: time of {many} hosts, against {few}", round(growth, 2), LINEAR * many / few, " x")


def recorded(folder, command, storm, actions):
    """Records and converts both programs, each of 8 times as many actions. Returns their files of the table `operations`."""
    folder.mkdir()
    data = []
    for name, tasks in ("common", 8), ("needle", 20):
        trace, converted = folder / name, folder / f"{name}.data"
        run = [storm, "--tasks", str(tasks), "--operations", str(actions * 8 // tasks)]
        run_with_losses(command, "record", "-o", trace, "--", *run)
        run_with_losses(command, "convert", trace, "--to", "parquet", "--partition", "host,date,hour", "-o", converted)
        shutil.rmtree(trace)
        data.append(sorted((converted / "operations").glob("*/*/*/*.parquet")))
    return data


def run_with_losses(*command):
    """Runs a command. It may tell that events were lost, which does not matter here."""
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr}")


def spread(folder, files, hosts):
    """Makes the day."""
    common, needle = files
    for host in range(hosts):
        for hour in range(HOURS):
            place = folder / "operations" / f"host=web-{host}" / f"date={DATE}" / f"hour={hour:02}"
            place.mkdir(parents=True)
            for number, file in enumerate(needle if (host, hour) == (hosts // 2, HOURS // 2) else common):
                (place / f"{number:03}.parquet").hardlink_to(file)
    return folder


def size(data):
    return sum(file.stat().st_size for file in data.rglob("*.parquet"))


def told(answer, data):
    return f"{answer.rows} rows in {answer.seconds:.2f} s, {answer.read / 1e6:.1f} of {size(data) / 1e6:.1f} MB read"


def question(name):
    return (ROOT / "fleet" / f"{name}.sql").read_text()


def duckdb(folder):
    """Installs DuckDB. It asks with a new connection, which knows no file yet."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "duckdb"], check=True)
    sys.path += map(str, folder.glob("lib/python*/site-packages"))
    import duckdb

    def ask(data, text):
        base = duckdb.connect()
        files = f"read_parquet('{data}/operations/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)"
        base.execute(f"create view operations as select * from {files}")
        before, begun = bytes_read(), time.monotonic()
        rows = len(base.execute(text).fetchall())
        return Answer(time.monotonic() - begun, rows, bytes_read() - before)

    return ask


def bytes_read():
    """The bytes that this process has read by system calls, also from the page cache."""
    return int(re.search(r"^rchar: (\d+)$", Path("/proc/self/io").read_text(), re.MULTILINE)[1])


def datafusion():
    """Builds `dyntrace query`."""
    package = ROOT / "crates" / "query"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=package, check=True)
    program = package / "target" / "release" / "dyntrace-query"

    def ask(data, text):
        begun = time.monotonic()
        run = subprocess.run([program, data, "--json", "--stats", text], capture_output=True, text=True, check=True)
        took = time.monotonic() - begun
        return Answer(took, len(json.loads(run.stdout)), int(re.search(r"read: (\d+) bytes", run.stderr)[1]))

    return ask
