#!/usr/bin/env python3
"""Compares two binaries of the generated packages that were measured in turn.

usage: bench/compare.py FILE

FILE holds what `run bench` of either printed, each output under a line "== run-base round N" or "== run round N", the
first being the older binary. For each figure that both print: the median of the rounds, new over old. bench/gpu.sh
compare writes such a file.
"""
import collections
import re
import statistics
import sys

SECTION = re.compile(r"== (\S+) round")
CASE = re.compile(r"(.*) ([\d,]+) (\w+), \d+ ranks")
FIGURE = re.compile(r"(\S.*?)\s{2,}(\d+\.\d+)\s+\d")
# Figures of other work than the package's: the products and copies alone.
APART = re.compile("pure|copies|products")


def read(lines):
    """Milliseconds by case and name of the figure, then by binary, a round each."""
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    binary = case = None
    for line in lines:
        if m := SECTION.match(line):
            binary, case = m[1], None
        elif m := CASE.match(line):
            case = " ".join(m.groups())
        elif case and (m := FIGURE.match(line)) and not APART.match(m[1]):
            figures[case, m[1].strip()][binary].append(float(m[2]))
    return figures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        figures = read(file)
    rows = []
    for name, by in figures.items():
        if by["run"] and by["run-base"]:
            rows.append((statistics.median(by["run"]) / statistics.median(by["run-base"]), name, by))
    if not rows:
        sys.exit(f"{sys.argv[1]} has no figure of both binaries")
    rows.sort(key=lambda row: row[0])
    for ratio, (case, figure), by in rows:
        worse = " worse in every round" if min(by["run"]) > max(by["run-base"]) else ""
        print(f"{ratio:.3f} {case}: {figure}: {by['run-base']} then {by['run']}{worse}")
    print(f"{len(rows)} figures, new over old: median {statistics.median(r[0] for r in rows):.3f}, "
          f"{rows[0][0]:.3f} to {rows[-1][0]:.3f}")


main()
