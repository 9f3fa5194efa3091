"""The figures of modules, for `ci/bench code`: calls into them, upgrades, gaps of callers meanwhile, and memory left behind."""

import json
import statistics
import subprocess

from .common import ROOT, Median, say, until_met
from . import otp

FOLDER = ROOT / "benches" / "code"


def measured(*case):
    """Returns the output of the program of benches/code."""
    run = subprocess.run([FOLDER / "target" / "release" / "code", *map(str, case)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def code():
    subprocess.run(["cargo", "build", "--release", "--quiet", "--workspace"], cwd=FOLDER, check=True)
    calls()
    finishes()
    say("longest gap of a caller beside 1,000 upgrades", until_met(gaps, 1.2), 1.2, " x")
    addresses()
    cycles()


def calls():
    def beyond(way, base):
        def nanoseconds(effort):
            columns = measured("calls", 7 * effort)
            medians = ", ".join(f"{name.replace('_', ' ')} {statistics.median(column):.2f}" for name, column in columns.items())
            print(f"  ns of a call, medians of {7 * effort}: {medians}", flush=True)
            return Median(one - other for one, other in zip(columns[way], columns[base]))
        return nanoseconds

    say("ns of a call of an export, beyond a plain pointer", until_met(beyond("export", "pointer"), 1.5), 1.5)
    say("the same in a module", until_met(beyond("export_in_module", "pointer_in_module"), 2.5), 2.5)
    say("a call of an export, beyond `ArcSwap::load` and call", until_met(beyond("export", "arc_swap"), 0), 0)


def finishes():
    for release in otp.releases():
        theirs = json.loads(release.output("-noinput", "-run", "code_loading", "main", 20))
        print(f"  us, {release.name}: " + ", ".join(f"of {modules} modules {ns / 1000:.0f}" for modules, ns in theirs.items()), flush=True)

    def of(modules, few, many):
        def microseconds(effort):
            us = {others: statistics.median(times) for others, times in measured("finishing", modules, few, many, 20 * effort).items()}
            print(f"  us, medians: beside {few} others {us['few']:.0f}, beside {many} {us['many']:.0f}", flush=True)
            return max(us.values())
        return microseconds

    say("us of a finish of 1 module with 100 exports", until_met(of(1, 2, 200), 100), 100)
    say("us of a finish of 100 such modules", until_met(of(100, 2, 200), 2000), 2000)


def gaps(effort):
    seen = measured("gaps", 9 * effort, 1000)
    us = {who: statistics.median(windows) / 1000 for who, windows in seen.items() if who != "seconds"}
    print(f"  us, longest gap of a caller, medians of {9 * effort}: beside 1,000 upgrades {us['upgrading']:.1f}, "
          f"beside one that spins as long, {statistics.median(seen['seconds']):.1f} s, {us['spinning']:.1f}", flush=True)
    return us["upgrading"] / us["spinning"]


def addresses():
    one, ten = (measured("resolving", modules, 5) for modules in (1, 10))
    say("million addresses of a module resolved in a second", statistics.median(one["millions"]), 10, least=True)
    print(f"{'  beside it: spread over 10 modules':<58} {statistics.median(ten['millions']):>9.4g}", flush=True)


def cycles():
    seen = measured("cycles", 20_000)
    print(f"  KiB in memory after each tenth of 20,000 cycles: {seen['kib']}; mappings: {seen['mappings']}", flush=True)
    # Before this the history and the allocator's reserves reach their size.
    say("KiB that 10,000 cycles of load and unload leave behind", seen["kib"][-1] - seen["kib"][4], 100)
    say("versions that are kept in memory then", seen["kept"], 0)
