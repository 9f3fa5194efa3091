"""Erlang's virtual machine, with the programs of benches/otp."""

import json
import shutil
import subprocess
import sys

from .common import ROOT, TARGET, install

SOURCE = ROOT / "benches" / "otp"


class Otp:
    """One release, with the programs compiled by it."""

    def __init__(self, directory, includes, inside=()):
        """Commands run behind the words of `inside`. `includes` is the folder of the release's C headers."""
        self.directory, self.inside = directory, list(inside)
        directory.mkdir(parents=True, exist_ok=True)
        self.run("erlc", "-o", directory, *SOURCE.glob("*.erl"))
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{includes}", SOURCE / "native_tracer.c",
                        "-o", directory / "native_tracer.so"], check=True)
        self.name = "OTP " + self.output("-noshell", "-eval", "io:put_chars(erlang:system_info(otp_release)), halt().")

    def run(self, *command):
        return subprocess.run(self.inside + list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout

    def output(self, *arguments):
        return self.run("erl", "-pa", self.directory, *arguments)

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


def debians():
    """The release of the machine's own Debian."""
    install("erlang-base", "erlang-dev")
    return Otp(TARGET / "otp", "/usr/lib/erlang/usr/include")


def newest():
    """The release of Debian's suite sid, unpacked and run in its own root; `None` if it cannot be had."""
    root = TARGET / "otp-sid"
    if not root.exists():
        install("mmdebstrap")
        partial = root.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        TARGET.mkdir(parents=True, exist_ok=True)
        unpack = ["mmdebstrap", "--quiet", "--variant=extract", "--include=erlang-base,erlang-dev,coreutils,dash",
                  "--aptopt=Acquire::Check-Valid-Until \"false\"", "sid", partial]
        if subprocess.run(unpack, stdout=sys.stderr).returncode:
            return None
        partial.rename(root)
    # Its files are only unpacked, not installed, so this makes the links that installing them would. The mounts end with each command.
    enter = f"""set -e
        mkdir -p "{root}{ROOT}" {root}/proc {root}/dev {root}/tmp
        for dir in bin sbin lib lib64; do [ -e {root}/$dir ] || ln -s usr/$dir {root}/$dir; done
        [ -e {root}/bin/sh ] || ln -s dash {root}/bin/sh
        mount --bind {ROOT} "{root}{ROOT}"
        mount --rbind /proc {root}/proc
        mount --rbind /dev {root}/dev
        exec chroot {root} /usr/bin/env PATH=/usr/bin:/bin HOME=/tmp "$0" "$@\""""
    return Otp(TARGET / "otp-newest", root / "usr/lib/erlang/usr/include", ["unshare", "--mount", "sh", "-c", enter])


def releases():
    """Each release that figures are held against: the machine's own, and the newest if it can be had."""
    found = [debians(), newest()]
    if found[1] is None:
        print("  Debian's suite sid cannot be had: the newest OTP is not measured", flush=True)
    return [otp for otp in found if otp]
