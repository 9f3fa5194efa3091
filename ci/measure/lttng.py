"""LTTng-UST, the recorder's peer."""

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

from .common import PEERS, TARGET


class Lttng:
    """LTTng-UST, with a session daemon of its own."""

    def __init__(self, home):
        self.home = Path(home)
        self.loop = TARGET / "lttng_loop"
        source = PEERS / "lttng"
        subprocess.run(["cc", "-O2", f"-I{source}", source / "record_loop.c", "-o", self.loop, "-llttng-ust", "-ldl"], check=True)

    def call(self, program, *arguments):
        # Not one of our pipes: the daemon would keep it open.
        subprocess.run([program, *map(str, arguments)], env=os.environ | {"HOME": str(self.home)},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)

    def __enter__(self):
        self.call("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", self.home / "pid")
        return self

    def __exit__(self, *_):
        os.kill(int((self.home / "pid").read_text()), signal.SIGTERM)

    @contextmanager
    def session(self, mode, sub_buffer):
        """Records everything in four sub-buffers; those that are not overwritten go to disk."""
        snapshot = ["--snapshot"] if mode == "overwrite" else []
        self.call("lttng", "--no-sessiond", "create", mode, *snapshot, "--output", self.home / mode)
        self.call("lttng", "--no-sessiond", "enable-channel", "--userspace", f"--{mode}", "--num-subbuf", 4, "--subbuf-size", sub_buffer, "ring")
        self.call("lttng", "--no-sessiond", "enable-event", "--userspace", "--channel", "ring", "peers_lttng:*")
        self.call("lttng", "--no-sessiond", "start")
        try:
            yield
        finally:
            self.call("lttng", "--no-sessiond", "destroy", mode)

    def cost(self, payload, events=1_000_000):
        run = subprocess.run([self.loop, payload, str(events), "1"], stdout=subprocess.PIPE, text=True, check=True,
                             env=os.environ | {"HOME": str(self.home)})
        return float(run.stdout)
