"""Messages between tasks."""

import json
import subprocess

from .common import ROOT, say, until_met
from . import otp


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
    # 0.95 of the throughput, as a ratio of times.
    for name in (f"throughput, {arrangement}" for arrangement in arrangements):
        say(name, until_met(against_tokio(name), round(1 / 0.95, 3)), round(1 / 0.95, 3), " x")
    # A program for each, as the first token changes the whole program for good; both are compared with tokio's channel.
    for arrangement in arrangements:
        with_token, without = (against_tokio(f"{what}, {arrangement}") for what in ("with a token", "processes"))
        ratio = until_met(lambda effort: with_token(effort) / without(effort), round(1 / 0.9, 3))
        say(f"with a token, {arrangement}, against none", ratio, round(1 / 0.9, 3), " x")
    for name in "ping-pong, one", "ping-pong, two":
        say(name, until_met(against_tokio(name), 1.05), 1.05, " x")
    say("ns that recording adds to a message", until_met(lambda effort: figures_of("recorded", effort)["recorded"], 60), 60)

    for release in otp.releases():
        theirs = release.messages(200_000)
        for threads in "one", "two":
            name = f"ping-pong of processes, {threads}"
            ours = figures_of(name, 1)[name]["ns"]
            print(f"  ns, {name}: dyntrace {ours:.0f}, {release.name} {theirs[threads]:.0f}", flush=True)
            say(f"{name}, against {release.name}", round(ours / theirs[threads], 3), 1, " x")
