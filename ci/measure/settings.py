"""Trace settings: their time, and the pauses of other threads."""

import json
import statistics
import subprocess

from .common import ROOT, median_ratio, nanoseconds, say, taken_in_turns, until_met
from . import otp

SETTINGS = ROOT / "benches" / "settings"


def progress():
    package = ROOT / "benches" / "progress"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=package, check=True)

    def beyond(other):
        def nanoseconds(effort):
            run = subprocess.run([package / "target" / "release" / "progress", str(2000 * effort)], stdout=subprocess.PIPE, text=True, check=True)
            medians = json.loads(run.stdout)[other]
            print("  ns, medians: " + ", ".join(f"{name} {median}" for name, median in medians.items()), flush=True)
            return medians["wait"] - medians["membarrier"]
        return nanoseconds

    # A trace setting has four waits, and 15 us for them beside the barriers.
    for other in "asleep", "spinning", "pinning":
        say(f"ns that a task's wait takes beyond membarrier, other {other}", until_met(beyond(other), 3000), 3000)


def settings(program, *arguments):
    """Returns the output of a program of benches/settings."""
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", program], cwd=SETTINGS, check=True)
    run = subprocess.run([SETTINGS / "target" / "release" / program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


# What setting and removing half of 100,000 functions may take, against OTP.
HALF = 0.2


def setting():
    def one(sites, other, barriers):
        def microseconds(effort):
            us = {name: ns / 1000 for name, ns in settings(f"setting_{sites}", "one", other, 200 * effort).items()}
            print("  us, medians: " + ", ".join(f"{name} {median:.1f}" for name, median in us.items()), flush=True)
            return us["named"] - barriers * us["membarrier"]
        return microseconds

    for sites, asked in (1_000, 30), (100_000, 20):
        say(f"us to set one of {sites} functions, others asleep", until_met(one(sites, "asleep", 0), asked), asked)
        say("the same, another spinning, beyond 4 x membarrier", until_met(one(sites, "spinning", 4), 15), 15)

    releases = otp.releases()

    def many(effort):
        ours, *theirs = taken_in_turns(3 * effort, lambda: settings("setting_100000", "half", 20),
                                       *(lambda release=release: release.settings("set", 20) for release in releases))
        for name, samples in ("dyntrace", ours), *((release.name, samples) for release, samples in zip(releases, theirs)):
            medians = {of: statistics.median(sample[of] for sample in samples) / 1000 for of in samples[0] if of != "functions"}
            print(f"  us, {name}: " + ", ".join(f"{of} {median:.1f}" for of, median in medians.items()), flush=True)
        both = [[sample["set"] + sample["removed"] for sample in samples] for samples in (ours, *theirs)]
        return [median_ratio(both[0], others) for others in both[1:]]

    ratios = many(1)
    if max(ratios) > HALF:
        ratios = many(3)
    for release, ratio in zip(releases, ratios):
        say(f"50,000 functions set and removed, against {release.name}", ratio, HALF, " x")
    others = settings("peers", 20)
    print(f"  us, others: tracing, filter of {others['callsites']} callsites reloaded, on {others['reload_on'] / 1000:.1f}, "
          f"off {others['reload_off'] / 1000:.1f}; a static key enabled {others['key'] / 1000:.1f}", flush=True)


def pause():
    def medians(*options):
        seen = settings("setting_100000", "pause", 9, *options)
        print(f"  {sum(seen['setting']['settings'])} times 50,000 functions set and removed", flush=True)
        return {other: {who: statistics.median(windows) / 1000 for who, windows in columns.items()} for other, columns in seen.items()}

    names = {"thread": "a thread", "undisturbed": "a thread, others of the machine left out", "task": "a task of the setter's runtime"}

    def ratio(_):
        us = medians()
        for who, name in names.items():
            print(f"  us, longest pause of {name}, medians of 9 windows: beside the setter {us['setting'][who]:.1f}, "
                  f"beside one that spins {us['spinning'][who]:.1f}", flush=True)
        return us["setting"]["undisturbed"] / us["spinning"]["undisturbed"]

    say("longest pause of a thread beside a setter", until_met(ratio, 1.2), 1.2, " x")
    for release in otp.releases():
        us = {who: ns / 1000 for who, ns in release.settings("pause", 9).items()}
        print(f"  us, {release.name}: " + ", ".join(f"{who.replace('_', ' ')} {longest:.1f}" for who, longest in us.items()), flush=True)
