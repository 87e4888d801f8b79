#!/usr/bin/env python3
"""Compares two binaries of the generated packages that were measured in turn.

usage: bench/compare.py FILE

FILE holds the output of `run bench` of both binaries. A line "== run-base round N" or "== run round N" stands before
each output; run-base is the older binary. For each figure that both print, it prints the median of the rounds, new over
old. Figures of the products or copies alone are left out. bench/gpu.sh compare writes such a file.
"""
import collections
import re
import statistics
import sys

SECTION = re.compile(r"== (\S+) round")
# The heading of a table: packages, then a shape and a type, or a collective and its bytes.
CASE = re.compile(r"(\S.*), \d+ ranks(?: of \d+ hosts)?: ms\b")
FIGURE = re.compile(r"(\S.*?)\s{2,}(\d+\.\d+)\s+\d")
# Figures of other work than the package's: the products and copies alone.
APART = re.compile("pure|chunks|copies|products")


def read(lines):
    """Milliseconds by case and name of the figure, then by binary, a round each."""
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    binary = case = None
    for line in lines:
        if m := SECTION.match(line):
            binary, case = m[1], None
        elif m := CASE.match(line):
            case = m[1]
        elif case and (m := FIGURE.match(line)) and not APART.match(m[1]):
            figures[case, m[1].strip()][binary].append(float(m[2]))
    return figures


def compare(lines):
    """New over old, the name and the times of each figure that both binaries print, the best first."""
    rows = []
    for name, by in read(lines).items():
        if by["run"] and by["run-base"]:
            rows.append((statistics.median(by["run"]) / statistics.median(by["run-base"]), name, by))
    return sorted(rows, key=lambda row: row[0])


def report(rows):
    """A line for each figure, and one for all."""
    worse = 0
    for ratio, (case, figure), by in rows:
        always = min(by["run"]) > max(by["run-base"])
        worse += always
        yield (f"{ratio:.3f} {case}: {figure}: {by['run-base']} then {by['run']}"
               + (" worse in every round" if always else ""))
    yield (f"{len(rows)} figures, new over old: median {statistics.median(r[0] for r in rows):.3f}, "
           f"{rows[0][0]:.3f} to {rows[-1][0]:.3f}; {worse} worse in every round")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = compare(file)
    if not rows:
        sys.exit(f"{sys.argv[1]} has no figure of both binaries")
    print("\n".join(report(rows)))


if __name__ == "__main__":
    main()
