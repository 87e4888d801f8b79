#!/usr/bin/env python3
"""Prints tables in Markdown of measured times.

usage: bench/tables.py small FILE POINT [NAME...]    of bench/small.py: the points that begin with this expression, us
       bench/tables.py block FILE [NAME...]          of bench/block.py: gated, ms
       bench/tables.py run FILE PACKAGE [NAME...]    of `run bench` of PACKAGE and others: gated, the better of enqueued
                                                     and replayed, ms
       bench/tables.py fastest FILE PACKAGE          of the same: the three fastest of each shape, not the product alone
       bench/tables.py fewrows FILE TYPES            of bench/fewrows: the first products of "bf16 by e4m3", us
       bench/tables.py steps FILE                    of the example decoder's steps, beside what reading takes
       bench/tables.py first FILE                    the first table that the file has in Markdown

Each NAME is a column; without any, the first row gives the columns. Where a point was measured twice, the later figure
counts.
"""
import itertools
import re
import sys

import compare

SMALL = re.compile(r"(\S.*?)\s+((?:[\w-]+ \d+\.\d\s*)+)$")
FEWROWS = re.compile(r"\s*(\d+) x\s+(\d+),\s+\d+ MB,\s+(\d+) rows:  (.*)")
EARLY = {"read-early-fewrows": "read, early", "early-fewrows": "early"}
PARTS = ("pure", "chunks", "copies", "network", "serial")  # of the work, which no package alone does
BLOCK = re.compile(r"\s*(\d+)  (\w.*?)\s+\d\S+\s+\S+\.\.\s*\S+\s+(\d\S+)\s")


def small(lines, start):
    """us by point and variant, of the points that begin with a regular expression."""
    rows = {}
    for line in lines:
        if re.match(start, line) and (m := SMALL.match(line)):
            cells = m[2].split()
            rows[m[1]] = dict(zip(cells[::2], cells[1::2]))
    return rows


def block(lines):
    """ms by number of rows and way."""
    rows = {}
    for line in lines:
        if m := BLOCK.match(line):
            rows.setdefault(m[1], {})[m[2]] = f"{float(m[3]):.3f}"
    return rows


def run(lines, package):
    """ms by shape and package, of the tables that have this package; the product alone is called pure."""
    best, names = {}, []
    for line in lines:
        if m := compare.CASE.match(line):
            packages, _, shape = m[1].rpartition(" ")[0].rpartition(" ")
            names = packages.split(", ")
        elif package in names and (m := compare.FIGURE.match(line)) and m[1].endswith(", gated"):
            name = re.sub("(eager|replayed)?, gated", "", m[1]).strip() or package
            row = best.setdefault(shape, {})
            row[name] = min(float(m[2]), row.get(name, float("inf")))
    return {shape: {name: f"{ms:.4g}" for name, ms in row.items()} for shape, row in best.items()}


def fastest(rows):
    """Of each shape the three fastest, and how much longer the second and the third take."""
    chosen = {}
    for shape, row in rows.items():
        plans = sorted(((float(ms), name) for name, ms in row.items() if name not in PARTS))
        chosen[shape] = {place: f"{name} {ms:.4g}" + (f" (+{100 * (ms / plans[0][0] - 1):.1f} %)" if i else "")
                         for i, (place, (ms, name)) in enumerate(zip(("fastest", "second", "third"), plans))}
    return chosen


def fewrows(lines, types):
    """us by weight and rows of the first list of products of such types; early are launches that start early."""
    rows = {}
    listed = itertools.dropwhile(lambda line: not line.startswith(types + ": us"), lines)
    for line in itertools.takewhile(FEWROWS.match, itertools.islice(listed, 1, None)):
        columns, depth, number, cells = FEWROWS.match(line).groups()
        figures = re.findall(r"(\S+) (\d+\.\d+)(?: \(.*?\))?", cells)
        rows[f"{columns} x {depth} | {number}"] = {EARLY.get(name, name): us for name, us in figures}
    return rows


def first_table(lines):
    """The lines of the first table in Markdown."""
    stripped = (line.strip() for line in lines)
    inside = itertools.dropwhile(lambda line: not line.startswith("|"), stripped)
    return list(itertools.takewhile(lambda line: line.startswith("|"), inside))


def reading(layers, ranks, sequences, position):
    """ms in which a rank reads its part of 8B's weights of 16 bits, but the embedding, and of the cache at 4.4 TB/s."""
    hidden, inner, vocabulary, keys = 4096, 14336, 128256, 1024
    layer = 2 * hidden * hidden + 2 * keys * hidden + 3 * inner * hidden
    cache = 2 * keys * sequences * (position + 1)
    return 2 * (layers * (layer + cache) + vocabulary * hidden) / ranks / 4.4e9


def steps(lines):
    """The table of a run of TestSpeed. Steps that decode have what reading takes, and each time over that."""
    lines = [line.rstrip() for line in lines]
    layers, ranks = map(int, re.search(r"(\d+) layers on (\d+) GPUs, bf16", "\n".join(lines)).groups())
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in first_table(lines))
    columns = [head[0], "reading, ms"]
    for name in head[1:]:
        columns += [name, "over reading"] if name.endswith(", ms") else [name]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for step, *cells in rows:
        decodes = re.fullmatch(r"decode (\d+) at position (\d+)", step)
        least = reading(layers, ranks, *map(int, decodes.groups())) if decodes else 0
        row = [step, f"{least:.2f}" if decodes else "-"]
        for name, cell in zip(head[1:], cells):
            row += [cell, f"{float(cell) / least:.2f}" if decodes else "-"] if name.endswith(", ms") else [cell]
        yield f"| {' | '.join(row)} |"


def table(first, rows, names):
    """The rows of a table; a point that has no such figure gets none."""
    names = names or list(next(iter(rows.values())))
    yield f"| {first} | {' | '.join(names)} |"
    yield "|---" * (first.count("|") + 1 + len(names)) + "|"
    for point, row in rows.items():
        if set(names) & set(row):
            yield f"| {point} | {' | '.join(row.get(name, '-') for name in names)} |"


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("small", "block", "run", "fastest", "fewrows", "steps", "first"):
        sys.exit(__doc__)
    kind, file, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(file, encoding="utf-8") as lines:
        if kind in ("first", "steps"):
            print("\n".join({"first": first_table, "steps": steps}[kind](lines)))
            return
        if kind == "small":
            first, rows, rest = "us", small(lines, rest[0] if rest else ""), rest[1:]
        elif kind == "block":
            first, rows = "rows", block(lines)
        elif kind == "fewrows":
            first, rows, rest = "us | rows", fewrows(lines, rest[0] if rest else ""), rest[1:]
        else:
            first, rows, rest = "m,k,n", run(lines, rest[0] if rest else ""), rest[1:]
    if kind == "fastest":
        rows = fastest(rows)
    if not rows:
        sys.exit(f"{file} has no such figure")
    print("\n".join(table(first, rows, rest)))


if __name__ == "__main__":
    main()
