"""The compile time and the size of a program that uses only `fs`, compared with the same program with tokio alone."""

import os
import shutil
import statistics
import subprocess
import time

from .commands import commands
from .common import FULL, ROOT, median_ratio, say, taken_in_turns

FOLDER = ROOT / "target" / "build"
TOKIO = 'tokio = { version = "1.50", features = ["fs", "macros", "rt", "rt-multi-thread"] }\n'
DYNTRACE = f'dyntrace = {{ path = "{ROOT}" }}\n'
ONLY_FS = DYNTRACE.replace(" }", ', default-features = false, features = ["fs"] }')
RENAME = """#[tokio::main]
async fn main() -> std::io::Result<()> {
    let from = std::env::args().nth(1).expect("a file");
    tokio::fs::write(&from, "text").await?;
    tokio::fs::rename(&from, from.clone() + ".new").await
}
"""
# Prints the number of its threads, files and sockets, and signal handlers.
HELLO = """#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let handlers = status.lines().find(|line| line.starts_with("SigCgt")).unwrap();
    println!("{} threads, {} descriptors, {handlers}", count("/proc/self/task"), count("/proc/self/fd"));
}
"""


class Program:
    """A package of its own, with nothing built of it yet."""

    def __init__(self, name, dependencies, main):
        self.folder = FOLDER / name
        (self.folder / "src").mkdir(parents=True)
        manifest = f'[package]\nname = "{name}"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n{dependencies}'
        (self.folder / "Cargo.toml").write_text(manifest)
        (self.folder / "src" / "main.rs").write_text(main)
        # The versions that the workspace has.
        shutil.copy(ROOT / "Cargo.lock", self.folder)
        self.binary = self.folder / "target" / "release" / name

    def cargo(self, *arguments):
        ours = ("CARGO_PROFILE", "CARGO_INCREMENTAL", "RUSTFLAGS")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        environment |= {"CARGO_TARGET_DIR": str(self.folder / "target"), "CARGO_BUILD_JOBS": "2"}
        run = subprocess.run(["cargo", *arguments], cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return run.stdout

    def packages(self):
        """The packages that are compiled, the program itself left out."""
        listed = self.cargo("tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}").splitlines()
        return sorted({line.removesuffix(" (*)") for line in listed[1:]})

    def seconds(self):
        """How long a clean release build takes."""
        shutil.rmtree(self.folder / "target", ignore_errors=True)
        start = time.monotonic()
        self.cargo("build", "--release", "--quiet")
        return time.monotonic() - start

    def run(self):
        return subprocess.run([self.binary], stdout=subprocess.PIPE, text=True, check=True).stdout

    def size(self):
        subprocess.run(["strip", self.binary], check=True)
        return self.binary.stat().st_size / 1024


def build():
    shutil.rmtree(FOLDER, ignore_errors=True)
    alone = Program("alone", TOKIO, RENAME)
    only_fs = Program("only_fs", TOKIO + ONLY_FS, RENAME.replace("tokio::fs", "dyntrace::fs"))
    hello = Program("hello", TOKIO, HELLO)
    linked = Program("linked", TOKIO + DYNTRACE, "use dyntrace as _;\n" + HELLO)

    say("packages that a program with the feature `fs` compiles", len(only_fs.packages()), 30)
    print(f"  with tokio alone {len(alone.packages())}, with the default features {len(linked.packages())}", flush=True)
    times = taken_in_turns(9 if FULL else 3, alone.seconds, only_fs.seconds)
    print("  seconds: with tokio alone {:.1f}, with dyntrace {:.1f}".format(*map(statistics.median, times)), flush=True)
    say("time of a clean release build, against tokio alone", median_ratio(*reversed(times)), 3, " x")
    for program in hello, linked:
        program.cargo("build", "--release", "--quiet")
    say("KiB that a program with the feature `fs` grows by", only_fs.size() - alone.size(), 400)
    grown = linked.size() - hello.size()
    print(f"  beside it: hello world with the default features, {grown:.0f} KiB", flush=True)
    same = hello.run() == linked.run()
    say("threads, files and handlers before anything is asked for", int(not same), 0)
    commands()
