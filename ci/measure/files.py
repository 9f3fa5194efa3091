"""File operations: their figures are in benches/fileio, beside its programs."""

import json
import subprocess
import sys

from .common import FULL, ROOT, say

sys.path.append(str(ROOT / "benches" / "fileio"))
import breadth as uses  # noqa: E402
import figures  # noqa: E402

# Words of the rows that `breadth` measures; all rows if there are none.
ONLY = []


def fileio():
    figures.measure(say, FULL)


def breadth():
    uses.measure(say, FULL, ONLY)


def standing():
    figures.storm(say, FULL)


def scale():
    figures.scale(say, FULL)
    simulated()


def simulated():
    """Figures of up to 64 cores, simulated from measurements on this machine: benches/scale."""
    folder = ROOT / "benches" / "scale"
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, check=True)
    done = json.loads(subprocess.run(folder / "target" / "release" / "scale", stdout=subprocess.PIPE, text=True, check=True).stdout)
    print("  ns: " + ", ".join(f"{what} {time:.0f}" for what, time in done["ns"].items()), flush=True)
    for path, shares in done["present"].items():
        say(f"simulated: 64 cores against 64 times one: {path}", shares["64"], 0.9, " x", least=True, beside=by_cores(shares))
    for path, shares in done["instead"].items():
        print(f"  simulated, instead: {path}: {by_cores(shares)}", flush=True)


def by_cores(shares):
    return ", ".join(f"{cores} cores {share:.2f}" for cores, share in sorted(shares.items(), key=lambda of: int(of[0])))
