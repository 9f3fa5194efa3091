"""Messages between tasks."""

import json
import subprocess

from .common import ROOT, say, until_met
from . import otp

# 0.95 of the throughput, as a ratio of times.
CHANNEL = round(1 / 0.95, 3)
# No slower than any of these.
ACTORS = 1
# The channels with the guarantees of a mailbox: many senders, a receiver that waits in a task, a cancelled receive that loses no
# message, and operations that take from the task's budget, so that a busy receiver lets the other tasks of its thread run.
# flume and crossfire lack the last, kanal the last two: the tests of benches/messages show it. They are measured, and not asked.
SAME_GUARANTEES = ["tokio"]
# The channel that a mailbox without a bound stands on.
FLOOR = "tokio's with a vast bound"


def messages():
    folder = ROOT / "benches" / "messages"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, check=True)

    def figures_of(only, effort):
        command = [folder / "target" / "release" / "messages", "--rounds", str(9 * effort), "--only", only]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)

    def against_tokio(name):
        def ratio(effort):
            figure = figures_of(name, effort)[name]
            print(f"  ns, {name}: dyntrace {figure['ns']:.1f}, tokio {figure['peer_ns']:.1f}", flush=True)
            return figure["ratio"]
        return ratio

    arrangements = [f"{senders} senders, {threads}" for senders in (1, 8) for threads in ("one", "two")]
    for name in (f"throughput, {arrangement}" for arrangement in arrangements):
        say(name, until_met(against_tokio(name), CHANNEL), CHANNEL, " x")
    # A program for each, as the first token changes the whole program for good; both are compared with tokio's channel.
    for arrangement in arrangements:
        with_token, without = (against_tokio(f"{what}, {arrangement}") for what in ("with a token", "processes"))
        ratio = until_met(lambda effort: with_token(effort) / without(effort), round(1 / 0.9, 3))
        say(f"with a token, {arrangement}, against none", ratio, round(1 / 0.9, 3), " x")
    for name in "ping-pong, one", "ping-pong, two":
        say(name, until_met(against_tokio(name), 1.05), 1.05, " x")
    say("ns that recording adds to a message", until_met(lambda effort: figures_of("recorded", effort)["recorded"], 60), 60)

    floors = {}

    def against_all(name, asked):
        def ratio(effort):
            figure = figures_of(name, effort)[name]
            theirs = ", ".join(f"{peer} {of['ns']:.1f} ({of['ratio']:.2f} x)" for peer, of in figure["peers"].items())
            print(f"  ns, {name}: dyntrace {figure['ns']:.1f}, {theirs}", flush=True)
            if floor := figure["peers"].get(FLOOR):
                floors[name] = f"{FLOOR} {floor['ns'] / figure['peers']['tokio']['ns']:.2f} x"
            return max(of["ratio"] for peer, of in figure["peers"].items() if peer in asked)
        return ratio

    for arrangement in [*arrangements, "round trip, one", "round trip, two"]:
        for bound in "bounded", "unbounded":
            name = f"{bound} channels, {arrangement}"
            measured = until_met(against_all(name, SAME_GUARANTEES), CHANNEL)
            say(f"{name}, same guarantees", measured, CHANNEL, " x", beside=floors.get(name, ""))
            name = f"{bound} actors, {arrangement}"
            say(name, until_met(against_all(name, ["kameo", "ractor"]), ACTORS), ACTORS, " x")

    for release in otp.releases():
        theirs = release.messages(200_000)
        for threads in "one", "two":
            name = f"ping-pong of processes, {threads}"
            ours = figures_of(name, 1)[name]["ns"]
            print(f"  ns, {name}: dyntrace {ours:.0f}, {release.name} {theirs[threads]:.0f}", flush=True)
            say(f"{name}, against {release.name}", round(ours / theirs[threads], 3), 1, " x")
