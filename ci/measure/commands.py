"""CPU time of the commands that README.md and CONTRIBUTING.md name: from a bare clone, and after a change of one line."""

import os
import resource
import shutil
import subprocess

from .common import FULL, ROOT, say

FOLDER = ROOT / "target" / "build" / "clone"
QUICK = ["ci/quick", "HEAD"]
FS = ["cargo", "test", "--quiet", "-p", "dyntrace", "-p", "dyntrace-files", "--lib", "--test", "fs_*", "--", "fs"]
VIEW = ["cargo", "run", "--quiet", "-p", "dyntrace-cli", "--", "view", "docs/demo/today"]


def used(command, **more):
    """CPU seconds of a command in the clone, user and system, with all that it starts."""
    ours = ("CARGO_PROFILE", "CARGO_INCREMENTAL", "CARGO_TARGET_DIR", "RUSTFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"CARGO_BUILD_JOBS": "2"} | more
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=FOLDER, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def cloned():
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, FOLDER], check=True)


def changed(file):
    """Adds a line to a file."""
    with open(FOLDER / file, "a") as text:
        text.write("// One more line.\n")


def cold(command, limit, **more):
    cloned()
    say(f"{' '.join(command)}, from a clone", used(command, **more), limit, " s")


def commands():
    print("CPU seconds, user and system:", flush=True)
    # With the tracers that are here: the time to get them depends on the network.
    cold(["ci/demo"], 200, DYNTRACE_TRACERS=str(ROOT / "target" / "tracers"))
    cold(["cargo", "run", "--quiet", "-p", "dyntrace-cli", "--no-default-features", "--", "demo"], 120)
    # 90 s on two idle cores.
    cold(["cargo", "install", "--quiet", "--path", "crates/cli", "--root", "target"], 180)
    command = FOLDER / "target" / "bin" / "dyntrace"
    say("MB of the command, as installed", command.stat().st_size / 1e6, 15)
    cold(["ci/test"], 1000)
    if FULL:
        cold([".ci/run"], 3000)
        for peer in "ripgrep", "tokio-console":
            cloned()
            seconds = used(["cargo", "install", "--quiet", peer, "--root", "target", "--target-dir", "target"])
            print(f"  cargo install {peer}: {seconds:.0f} s", flush=True)

    cloned()
    changed("crates/files/src/fs/rename.rs")
    say("ci/quick, from a clone", used(QUICK), 300, " s")
    changed("crates/files/src/fs/rename.rs")
    say("ci/quick, after a change of one file of the library", used(QUICK), 60, " s")
    for command, file, limit in (FS, "crates/files/src/fs/rename.rs", 20), (VIEW, "crates/analysis/src/view/mod.rs", 10):
        used(command)
        changed(file)
        say(f"{' '.join(command)}, after a change of a line", used(command), limit, " s")
    shutil.rmtree(FOLDER)
