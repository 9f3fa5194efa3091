"""A day of a fleet: the bytes that a question about one tag reads, and the times of questions as there are more hosts.

Two programs are recorded and converted. The day is their files, linked under the names of many hosts and of 24 hours; the second program
ran on one host, in one hour, and has a tag that no other file has.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import fleet_engines

from .common import FULL, ROOT, built, median_ratio, room, say, taken_in_turns

HOURS = 24
ROUNDS = 5
# More than in proportion to the hosts by at most this, which is the noise of a machine.
LINEAR = 1.1
DATE = "2026-11-26"
# Between the tags of the other program, so that least and greatest values do not tell that a file lacks it.
TAG = "req-15"
ONE_TAG = f"select * from operations where user_tag = '{TAG}' and date = '{DATE}'"


class Day(NamedTuple):
    """The folder that holds the data set `fleet`, and its size."""

    folder: Path
    bytes: int


class Answer(NamedTuple):
    cpu: float
    seconds: float
    rows: int
    read: int
    of: int

    def __str__(self):
        return f"{self.rows} rows in {self.seconds:.2f} s, {self.cpu:.2f} s of CPU, {self.read / 1e6:.1f} of {self.of / 1e6:.1f} MB read"


def day():
    command = built("-p", "dyntrace-cli", "--bin", "dyntrace") / "dyntrace"
    storm = built("-p", "dyntrace", "--example", "file_storm") / "examples" / "file_storm"
    with room() as folder:
        folder = Path(folder)
        install_duckdb(folder / "python")
        engines = [fleet_engines.DuckDB]
        if FULL:
            build_datafusion(command)
            engines.append(fleet_engines.DataFusion)

        files = recorded(folder / "large", command, storm, actions=16_000)
        of_100 = spread(folder / "of-100", files, hosts=100)
        for engine in engines:
            answer = ask(engine, of_100, ONE_TAG)
            print(f"  one tag in a day of 100 hosts, {engine.__name__}: {answer}", flush=True)
            say(f"bytes of one tag in a day of 100 hosts, {engine.__name__}", round(100 * answer.read / answer.of, 3), 2, " %")
        shutil.rmtree(of_100.folder)

        files = recorded(folder / "small", command, storm, actions=200)
        few, many = (100, 1_000) if FULL else (10, 100)
        of_few, of_many = (spread(folder / f"of-{hosts}", files, hosts) for hosts in (few, many))
        for engine in engines:
            for what, text in ("one tag", ONE_TAG), ("slowest", question("slowest")), ("errors", question("errors")):
                less, more = taken_in_turns(ROUNDS, lambda: ask(engine, of_few, text), lambda: ask(engine, of_many, text))
                for hosts, answers in (few, less), (many, more):
                    middle = sorted(answers)[ROUNDS // 2]
                    print(f"  {what}, {hosts} hosts, {engine.__name__}, median of {ROUNDS}: {middle}", flush=True)
                growth = median_ratio(*([answer.cpu for answer in answers] for answers in (more, less)))
                say(f"{what}, {engine.__name__}: CPU time of {many} hosts, against {few}", round(growth, 2), LINEAR * many / few, " x")


def ask(engine, day, text):
    """Asks an engine that knows no file yet."""
    engine = engine(day.folder)
    begun, before = time.monotonic(), cpu()
    rows = len(engine.ask(text))
    return Answer(cpu() - before, time.monotonic() - begun, rows, engine.read, day.bytes)


def cpu():
    """The CPU time in seconds that this process and its ended children have used."""
    return sum(os.times()[:4])


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
    size = 0
    for host in range(hosts):
        for hour in range(HOURS):
            place = folder / "fleet" / "operations" / f"host=web-{host}" / f"date={DATE}" / f"hour={hour:02}"
            place.mkdir(parents=True)
            for number, file in enumerate(needle if (host, hour) == (hosts // 2, HOURS // 2) else common):
                (place / f"{number:03}.parquet").hardlink_to(file)
                size += file.stat().st_size
    return Day(folder, size)


def question(name):
    return (ROOT / "fleet" / f"{name}.sql").read_text()


def install_duckdb(folder):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "duckdb"], check=True)
    sys.path += map(str, folder.glob("lib/python*/site-packages"))


def build_datafusion(command):
    """Builds the program that `dyntrace query` runs."""
    package, target = ROOT / "crates" / "query", ROOT / "target" / "query"
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", target], cwd=package, check=True)
    os.environ["PATH"] = os.pathsep.join([str(command.parent), str(target / "release"), os.environ["PATH"]])
