"""Erlang's virtual machine, with the programs of benches/otp."""

import json
import subprocess

from .common import ROOT, TARGET, install


class Otp:
    """Erlang's virtual machine, with the programs of benches/otp."""

    def __init__(self):
        install("erlang-base", "erlang-dev")
        self.directory = TARGET / "otp"
        self.directory.mkdir(parents=True, exist_ok=True)
        source = ROOT / "benches" / "otp"
        subprocess.run(["erlc", "-o", self.directory, *source.glob("*.erl")], check=True)
        root = self.output("-noshell", "-eval", "io:put_chars(code:root_dir()), halt().")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{root}/usr/include", source / "native_tracer.c",
                        "-o", self.directory / "native_tracer.so"], check=True)

    def output(self, *arguments):
        run = subprocess.run(["erl", "-pa", self.directory, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
        return run.stdout

    def cost(self, case, calls):
        """CPU time of a call, in nanoseconds."""
        return float(self.output("-noinput", "-run", "traced_calls", "main", case, calls))

    def messages(self, rounds):
        """Nanoseconds of a round trip."""
        return json.loads(self.output("-noinput", "-run", "messages", "main", rounds))

    def settings(self, figure, rounds):
        if not (self.directory / "many.beam").exists():
            self.output("-noinput", "-run", "trace_settings", "main", "make", self.directory)
        return json.loads(self.output("-noinput", "-run", "trace_settings", "main", figure, rounds))
