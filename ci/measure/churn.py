"""A table of tasks that is read while tasks come and go: each reading is held against the program's own count.

A reading is wrong if it has a task twice, one that ended before the reading began, one that had not begun when the reading ended, or if
it lacks one that lived through it, also where it says so.
"""

import json
import os
import re
import subprocess
import time

from .common import FULL, ROOT, build, built, room, say

# With tasks that wait for ever beside them.
READINGS = {0: 400, 100_000: 40} if FULL else {0: 100, 100_000: 10}
RATE = 100_000


def churn():
    program = build("churn", package=ROOT / "benches" / "churn")
    reader = built("--package", "dyntrace-cli", "--bin", "dyntrace") / "dyntrace"
    for still, readings in READINGS.items():
        with room() as folder, Program(program, folder, still) as running:
            wrong, passed, ended, seconds = [], 0, 0, 0.0
            for _ in range(readings):
                before, began = running.mark(), time.monotonic()
                listed = running.listed(reader)
                after, seconds = running.mark(), seconds + time.monotonic() - began
                ended += sum(after["ended"]) - sum(before["ended"])
                faults, seen = judged(json.loads(listed), before, after, still)
                passed += seen
                wrong += [faults] if faults else []
        for faults in wrong[:3]:
            print(f"  wrong: {'; '.join(faults[:5])}", flush=True)
        what = f"beside {still} that wait" if still else "alone"
        print(f"  {passed / readings:.1f} of the tasks that come and go in each reading, {what}", flush=True)
        say(f"tasks that come and go in a second, {what}", round(ended / seconds), RATE, least=True)
        say(f"wrong readings of {readings}, {what}", len(wrong), 0)


class Program:
    def __init__(self, program, folder, still):
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder)
        self.process = subprocess.Popen([program, str(still)], env=self.environment | {"DYNTRACE": "tasks"},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def mark(self):
        self.process.stdin.write("mark\n")
        return json.loads(self.process.stdout.readline())

    def listed(self, reader):
        command = [reader, "ps", "--table", "--json", "-p", str(self.process.pid)]
        return subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, check=True).stdout


def judged(listed, before, after, still):
    """What is wrong with a reading, and how many tasks it has that come and go."""
    faults = []
    rows = [row["table"] for row in listed["tasks"]]
    pids = {row["pid"] for row in rows}
    if len(pids) < len(rows):
        faults.append(f"{len(rows) - len(pids)} tasks twice")
    seen, passed = {"standing": set(), "spinning": set(), "still": set()}, set()
    for row in rows:
        tag = row["tag"] or ""
        if lane := re.fullmatch(r"lane (\d+), (\d+)", tag):
            lane, number = map(int, lane.groups())
            if number <= before["ended"][lane]:
                faults.append(f"{tag} had ended, as had all up to {before['ended'][lane]}")
            if number > after["ended"][lane] + 1:
                faults.append(f"{tag} had not begun: {after['ended'][lane]} had ended last")
            if (lane, number) in passed:
                faults.append(f"{tag}: twice")
            passed.add((lane, number))
        elif other := re.fullmatch(r"(standing|spinning|still) (\d+)", tag):
            kind, number = other.groups()
            if number in seen[kind]:
                faults.append(f"{tag}: twice")
            seen[kind].add(number)
            if kind == "standing" and row["id"] != before["standing"].get(number):
                faults.append(f"{tag} with the id {row['id']}, not {before['standing'].get(number, 'any: it had ended')}")
        else:
            faults.append(f"a task with the tag {tag!r}")
    lived = {"standing": set(before["standing"]), "spinning": set(map(str, range(before["spinning"]))), "still": set(map(str, range(still)))}
    for kind, numbers in lived.items():
        if missing := numbers - seen[kind]:
            faults.append(f"{len(missing)} of {len(numbers)} {kind} tasks are missing: {listed['notes']}")
    return faults, len(passed)
