"""Messages, between tasks and between nodes."""

import itertools
import json
import os
import socket
import statistics
import subprocess
import time

from .common import FULL, ROOT, say, taken_in_turns, until_met
from .otp import Otp


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
    # 0.95 of the throughput, as times.
    for name in (f"throughput, {arrangement}" for arrangement in arrangements):
        say(name, until_met(against_tokio(name), round(1 / 0.95, 3)), round(1 / 0.95, 3), " x")
    # Programs of their own, as there is no way back behind the first token: both beside tokio's channel.
    for arrangement in arrangements:
        with_token, without = (against_tokio(f"{what}, {arrangement}") for what in ("with a token", "processes"))
        ratio = until_met(lambda effort: with_token(effort) / without(effort), round(1 / 0.9, 3))
        say(f"with a token, {arrangement}, against none", ratio, round(1 / 0.9, 3), " x")
    for name in "ping-pong, one", "ping-pong, two":
        say(name, until_met(against_tokio(name), 1.05), 1.05, " x")
    say("ns that recording adds to a message", until_met(lambda effort: figures_of("recorded", effort)["recorded"], 60), 60)

    theirs = Otp().messages(200_000)
    for threads in "one", "two":
        name = f"ping-pong of processes, {threads}"
        ours = figures_of(name, 1)[name]["ns"]
        print(f"  ns, {name}: dyntrace {ours:.0f}, OTP {theirs[threads]:.0f}", flush=True)
        say(f"{name}, against OTP", round(ours / theirs[threads], 3), 1, " x")


def dist():
    otp = Otp()
    package = ROOT / "benches" / "dist"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=package, check=True)
    program = package / "target" / "release" / "dist-bench"
    # One of its own, so that none is disturbed.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = os.environ | {"ERL_EPMD_PORT": port}
    count = str(2_000_000 if FULL else 500_000)
    numbers = itertools.count()

    def name():
        return f"n{next(numbers)}@127.0.0.1"

    def erl(name, *run):
        return ["erl", "-pa", otp.directory, "-name", name, "-setcookie", "bench", "-start_epmd", "false", "-noinput",
                "-run", "dist_messages", *run]

    def rate(sink, source):
        """Messages a second that `source(name, peer)` sends to `sink(name)`."""
        peer = name()
        with subprocess.Popen(sink(peer), env=environment) as counting:
            try:
                while peer.split("@")[0] not in subprocess.run(["epmd", "-names"], env=environment, stdout=subprocess.PIPE, text=True).stdout:
                    time.sleep(0.05)
                # It registers the process a moment later than itself.
                time.sleep(1)
                run = subprocess.run(source(name(), peer), env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
                return float(run.stdout)
            finally:
                counting.kill()

    erl_sink, our_sink = lambda peer: erl(peer, "sink"), lambda peer: [program, "sink", peer]
    erl_source, our_source = lambda own, peer: erl(own, "source", peer, count), lambda own, peer: [program, "source", own, peer, count]

    def ratios(effort):
        theirs, out, back = taken_in_turns(3 * effort, lambda: rate(erl_sink, erl_source), lambda: rate(erl_sink, our_source),
                                           lambda: rate(our_sink, erl_source))
        medians = [statistics.median(samples) for samples in (theirs, out, back)]
        print(f"  messages a second, medians of {len(theirs)}: between two Erlang nodes {medians[0]:.0f}, "
              f"to one {medians[1]:.0f}, from one {medians[2]:.0f}", flush=True)
        # The less of 300,000, and 0.8 of what two Erlang nodes reach.
        asked = min(300_000, 0.8 * medians[0])
        return medians[1] / asked, medians[2] / asked

    with subprocess.Popen(["epmd", "-port", port, "-address", "127.0.0.1"]) as epmd:
        try:
            out, back = ratios(1)
            if min(out, back) < 1:
                out, back = ratios(3)
        finally:
            epmd.kill()
    say("messages to an Erlang node, of what is asked", out, 1, " x", least=True)
    say("messages from an Erlang node, of what is asked", back, 1, " x", least=True)
