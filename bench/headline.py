#!/usr/bin/env python3
"""Prints how ovgen compares with the faster of its peers at each point that bench/peers.py measured.

usage: bench/headline.py [--host] [--table | --summary] FILE...

Each FILE has lines of JSON of peers.py. The figures are of gated runs, or, with --host, of runs that wait for their
host. Each program counts by the fastest of its forms. Efficiency is the time of the fastest whole product alone over
ours; bench/plot draws the same, which its tests hold.
--table prints a table of the points in Markdown instead, --summary a table of the files.
"""
import argparse
import json
import pathlib
import statistics
import sys

PRODUCT, PEERS = "pure", {"nccl": "NCCL", "symm_mem": "PyTorch"}
PARTS = {"chunks", "copies"}  # of the work, alone


def read(lines, host=False):
    """The fastest ms of each program and its name with its form, by point; only points with ours, a peer's and the
    product's."""
    points = {}
    for line in lines:
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if "ms" not in row or row["gated"] == host or row["variant"] in PARTS:
            continue
        best = points.setdefault(row["point"], {})
        program = row["program"] if row["program"] in PEERS else "ovgen"
        if row["variant"] == PRODUCT:  # of torch, or of a package's own bench
            program = PRODUCT
        if program not in best or row["ms"] < best[program][0]:
            best[program] = row["ms"], row["program"], row["variant"]
    return {point: best for point, best in points.items() if {PRODUCT, "ovgen"} <= set(best) and set(best) & set(PEERS)}


def ratio(best):
    """The time of the faster peer over ours."""
    return min(best[p][0] for p in PEERS if p in best) / best["ovgen"][0]


def headline(points):
    """One line for all points, one for each at which a peer is faster, and one on NCCL."""
    ratios = {point: ratio(best) for point, best in points.items()}
    values = ratios.values()
    yield (f"{len(ratios)} points: at least as fast as the faster peer at {sum(r >= 1 for r in values)}, "
           f"{statistics.median(values):.2f} times as fast at the median, {min(values):.2f} to {max(values):.2f}")
    yield from (f"    {point}: {r:.2f}" for point, r in ratios.items() if r < 1)
    beside = [100 * (1 - best[PRODUCT][0] / best["nccl"][0]) for best in points.values() if "nccl" in best]
    if beside:
        yield f"NCCL and product in turn: {min(beside):.0f} to {max(beside):.0f} % of the time is not the product's"


def summary(files):
    """The rows of a table in Markdown, given the lines of each file by its name."""
    yield "| file | points | at least as fast at | median | range | median with the host's time |"
    yield "|---|---|---|---|---|---|"
    for name, lines in files.items():
        gated, hosts = (sorted(map(ratio, read(lines, host).values())) for host in (False, True))
        yield (f"| {name} | {len(gated)} | {sum(r >= 1 for r in gated)} | {statistics.median(gated):.2f} | "
               f"{gated[0]:.2f} to {gated[-1]:.2f} | {statistics.median(hosts):.2f} |")


def digits(ms):
    """A time with four digits at most."""
    return f"{ms:.4f}" if ms < 1 else f"{ms:.3f}"


def table(points):
    """The rows of a table in Markdown."""
    yield "| layer, rows | product | NCCL | PyTorch | ovgen | over the faster peer | efficiency | by |"
    yield "|---|---|---|---|---|---|---|---|"
    for point, best in points.items():
        cells = [digits(best[p][0]) if p in best else "-" for p in (PRODUCT, *PEERS, "ovgen")]
        cells += [f"{ratio(best):.2f}", f"{best[PRODUCT][0] / best['ovgen'][0]:.2f}", best["ovgen"][1]]
        yield f"| {point} | {' | '.join(cells)} |"


def main():
    f = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    f.add_argument("--host", action="store_true", help="of runs that wait for their host")
    f.add_argument("--table", action="store_true", help="print a table of the points in Markdown instead")
    f.add_argument("--summary", action="store_true", help="print a table of the files instead")
    f.add_argument("files", nargs="+", metavar="FILE")
    o = f.parse_args()
    files = {name: pathlib.Path(name).read_text(encoding="utf-8").splitlines() for name in o.files}
    if o.summary:
        print("\n".join(summary({pathlib.Path(name).name: lines for name, lines in files.items()})))
        return
    for name, lines in files.items():
        points = read(lines, o.host)
        if not points:
            sys.exit(f"{name} has no point with ovgen, a peer and the product")
        print("\n".join(table(points) if o.table else [name, *headline(points)]))


if __name__ == "__main__":
    main()
