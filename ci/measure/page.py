"""The page of the figures: of each part those of its last run."""

import os
import platform
import re
from datetime import date
from pathlib import Path

HEAD = """# Figures

Each figure that `ci/bench` measures beside the figure that is asked, as it wrote them here (`ci/bench --page FILE [--busy N] [PART ...]`):
of each part those of its last run, on the machine named there. A figure that is a median has the spread of its samples. *Beside* has what
else was measured, as the floor. [What it costs](cost.md) tells how far machines are apart.
"""


def write(path, part, about, figures):
    """Puts the figures of a part in the place of those of an earlier run."""
    path = Path(path)
    text = path.read_text() if path.exists() else HEAD
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    others = [section for section in sections if not section.startswith(f"{part}\n")]
    new = f"{part}\n\n{about}\n\n{machine()}\n\n{table(figures)}\n"
    path.write_text(HEAD + "".join(f"\n## {section.strip()}\n" for section in sorted([*others, new])))


def table(figures):
    rows = [("figure", "asked", "measured", "spread", "", "beside"), ("---",) * 6]
    rows += [(one.what, one.asked, one.measured, one.spread, "" if one.is_met else "missed", one.beside) for one in figures]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def machine():
    name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    processor = name.group(1) if name else platform.machine()
    return f"{date.today()}, {processor}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}."
