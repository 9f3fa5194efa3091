"""File operations: their figures are in benches/fileio, beside its programs."""

import sys

from .common import FULL, ROOT, say

sys.path.append(str(ROOT / "benches" / "fileio"))
import figures  # noqa: E402


def fileio():
    figures.measure(say, FULL)


def standing():
    figures.storm(say, FULL)
