"""Messages between nodes, over TCP and over TLS."""

import itertools
import os
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .common import FULL, ROOT, install, say, taken_in_turns
from .otp import debians


def dist():
    otp = debians()
    install("erlang-ssl", "openssl")
    package = ROOT / "benches" / "dist"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=package, check=True)
    program = package / "target" / "release" / "dist-bench"
    # A private epmd, so that others are not disturbed.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = os.environ | {"ERL_EPMD_PORT": port}
    with tempfile.TemporaryDirectory() as room, subprocess.Popen(["epmd", "-port", port, "-address", "127.0.0.1"]) as epmd:
        try:
            for nodes in Nodes(otp, program, environment), Nodes(otp, program, environment, certified(Path(room))):
                out, back = nodes.ratios(1)
                if min(out, back) < 1:
                    out, back = nodes.ratios(3)
                say(f"messages to an Erlang node{nodes.over}, of what is asked", out, 1, " x", least=True)
                say(f"messages from an Erlang node{nodes.over}, of what is asked", back, 1, " x", least=True)
        finally:
            epmd.kill()


class Nodes:
    """Pairs of nodes with one epmd; over TLS if there is a directory with their certificate."""

    count = str(2_000_000 if FULL else 500_000)
    numbers = itertools.count()

    def __init__(self, otp, program, environment, certificate=None):
        self.environment = environment
        self.over = " over TLS" if certificate else ""
        self.ours = [program, certificate or "tcp"]
        self.theirs = ["erl", "-pa", otp.directory, "-setcookie", "bench", "-start_epmd", "false", "-noinput"]
        if certificate:
            self.theirs += ["-proto_dist", "inet_tls", "-ssl_dist_opt", "server_fail_if_no_peer_cert", "true"]
            files = {"certfile": "node.pem", "keyfile": "node.key", "cacertfile": "authority.pem"}
            for side in "server", "client":
                self.theirs += [f"{side}_verify", "verify_peer"]
                for option, file in files.items():
                    self.theirs += [f"{side}_{option}", certificate / file]

    def ratios(self, effort):
        """Messages a second to an Erlang node and from one, relative to the limit."""
        theirs, out, back = taken_in_turns(
            3 * effort,
            lambda: self.rate(self.erl_sink, self.erl_source),
            lambda: self.rate(self.erl_sink, self.our_source),
            lambda: self.rate(self.our_sink, self.erl_source))
        medians = [statistics.median(samples) for samples in (theirs, out, back)]
        print(f"  messages a second{self.over}, medians of {len(theirs)}: between two Erlang nodes {medians[0]:.0f}, "
              f"to one {medians[1]:.0f}, from one {medians[2]:.0f}", flush=True)
        # The smaller of 300,000 and 0.8 of the rate of two Erlang nodes.
        asked = min(300_000, 0.8 * medians[0])
        return medians[1] / asked, medians[2] / asked

    def rate(self, sink, source):
        """Messages a second that `source(name, peer)` sends to `sink(name)`."""
        peer = self.name()
        with subprocess.Popen(sink(peer), env=self.environment) as counting:
            try:
                while peer.split("@")[0] not in subprocess.run(
                        ["epmd", "-names"], env=self.environment, stdout=subprocess.PIPE, text=True).stdout:
                    time.sleep(0.05)
                # The node registers itself before its process.
                time.sleep(1)
                run = subprocess.run(source(self.name(), peer), env=self.environment, stdout=subprocess.PIPE, text=True,
                                     check=True, timeout=120)
                return float(run.stdout)
            finally:
                counting.kill()

    def name(self):
        return f"n{next(self.numbers)}@127.0.0.1"

    def erl_sink(self, name):
        return self.erl(name, "sink")

    def erl_source(self, name, peer):
        return self.erl(name, "source", peer, self.count)

    def our_sink(self, name):
        return [*self.ours, "sink", name]

    def our_source(self, name, peer):
        return [*self.ours, "source", name, peer, self.count]

    def erl(self, name, *run):
        return [*self.theirs, "-name", name, "-run", "dist_messages", *run]


def certified(room):
    """Creates an authority, and its certificate for nodes of this machine, in the directory."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=room, stderr=subprocess.DEVNULL, check=True)

    (room / "extensions").write_text("subjectAltName=IP:127.0.0.1,DNS:127.0.0.1\n")
    new = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *new, "-subj", "/CN=authority", "-keyout", "authority.key", "-out", "authority.pem")
    openssl("req", *new, "-subj", "/CN=node", "-keyout", "node.key", "-out", "request")
    openssl("x509", "-req", "-in", "request", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-extfile", "extensions", "-out", "node.pem")
    return room
