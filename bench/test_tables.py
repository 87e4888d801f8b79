"""Tests of tables.py and cited.py: python3 -m unittest discover -s bench"""
import unittest

import cited
import tables

SMALL = """# torch 2, 2 ranks; us a call
all-reduce 16 KiB        nccl 10.1  torch-one-shot 6.7  allreduceoneshot 6.6
8B fc2 64                product 17.9  nccl 27.6
all-reduce 16 KiB        nccl 10.2  torch-one-shot 6.8
all-reduce 64 KiB        nccl 10.5  torch-one-shot 6.9
    allreducepush: Error: it has 1.0 bits
""".splitlines()

BLOCK = """  rows  way                 eager                        gated
   128  torch eager         0.5920   0.5271..  1.4052    0.1268   0.1260..  0.1293
   128  in parts replayed    0.2357   0.2240..  0.3359    0.2144   0.2046..  0.2192
""".splitlines()

RUN = """one, two 64,32,16 bf16, 2 ranks: ms, median
pure, gated              0.1000     0.1..0.3    100.0
one eager, gated         0.2000     0.1..0.3    100.0
one replayed, gated      0.1500     0.1..0.3    100.0
one replayed             0.0100     0.1..0.3    100.0
two eager, gated         12.345     0.1..0.3    100.0

three 64,32,16 bf16, 2 ranks: ms, median
pure, gated              0.0900     0.1..0.3    100.0
eager, gated             0.3000     0.1..0.3    100.0
""".splitlines()


STEPS = """    gpu_test.go:135: 16 layers on 2 GPUs, bf16
        | step | ovgen, ms | tokens/s | NCCL, ms | tokens/s |
        |---|---|---|---|---|
        | decode 64 at position 2047 | 2.83 | 22584 | 3.18 | 20148 |
        | prompt of 128 | 2.31 | 55298 | 2.70 | 47357 |
--- PASS
""".splitlines(True)


FEWROWS = """bf16 by bf16: us a launch
 4096 x 14336, 117 MB,  8 rows:  read 27.23  fewrows 30.55 (1.122)
bf16 by e4m3: us a launch
 4096 x 14336,  59 MB,  8 rows:  read 14.93  fewrows 25.51 (1.709, 1.299)  early-fewrows 23.73 (1.589, 1.208)
== another
 4096 x 14336,  59 MB,  8 rows:  read 1.93
""".splitlines()


class Tables(unittest.TestCase):
    def test_small(self):
        rows = tables.small(SMALL, "all-reduce")
        self.assertEqual(list(tables.table("us", rows, ["torch-one-shot", "nccl"])), [
            "| us | torch-one-shot | nccl |", "|---|---|---|", "| all-reduce 16 KiB | 6.8 | 10.2 |",
            "| all-reduce 64 KiB | 6.9 | 10.5 |"])

    def test_block(self):
        self.assertEqual(tables.block(BLOCK), {"128": {"torch eager": "0.127", "in parts replayed": "0.214"}})

    def test_run(self):
        self.assertEqual(tables.run(RUN, "two"), {"64,32,16": {"pure": "0.1", "one": "0.15", "two": "12.35"}})
        self.assertEqual(tables.run(RUN, "three"), {"64,32,16": {"pure": "0.09", "three": "0.3"}})

    def test_fewrows(self):
        self.assertEqual(list(tables.table("us | rows", tables.fewrows(FEWROWS, "bf16 by e4m3"), ["read", "early"])), [
            "| us | rows | read | early |", "|---|---|---|---|", "| 4096 x 14336 | 8 | 14.93 | 23.73 |"])

    def test_fastest(self):
        self.assertEqual(tables.fastest(tables.run(RUN, "two")), {"64,32,16": {
            "fastest": "one 0.15", "second": "two 12.35 (+8133.3 %)"}})

    def test_reading(self):  # of one rank, as a trace of one H200 was compared
        self.assertEqual([f"{tables.reading(16, 1, *x):.2f}" for x in ((1, 15), (16, 15), (1, 2047), (64, 2047))],
                         ["1.83", "1.83", "1.86", "3.78"])

    def test_steps(self):
        self.assertEqual(list(tables.steps(STEPS)), [
            "| step | reading, ms | ovgen, ms | over reading | tokens/s | NCCL, ms | over reading | tokens/s |",
            "|---|---|---|---|---|---|---|---|",
            "| decode 64 at position 2047 | 1.89 | 2.83 | 1.50 | 22584 | 3.18 | 1.68 | 20148 |",
            "| prompt of 128 | - | 2.31 | - | 55298 | 2.70 | - | 47357 |"])

    def test_first(self):
        lines = ["head", "    | a |", "    |---|", "    | 1 |", "text", "| 2 |"]
        self.assertEqual(tables.first_table(lines), ["| a |", "|---|", "| 1 |"])

    def test_columns(self):
        rows = {"1": {"a": "2", "b": "3"}, "2": {"b": "4"}, "3": {"c": "5"}}
        self.assertEqual(list(tables.table("m", rows, []))[2:], ["| 1 | 2 | 3 |", "| 2 | - | 4 |"])


class Cited(unittest.TestCase):
    def check(self, text, results, printed="| 1 |\n"):
        return list(cited.problems({"a.md": text}, results, lambda command: printed))

    def test_well(self):
        text = "`docs/results/2026-01-02-x-2.txt`\n<!-- $ bench/tables.py x -->\n| 1 |\n\nand"
        self.assertEqual(self.check(text, {"2026-01-02-x-2.txt"}), [])

    def test_uncited(self):
        self.assertEqual(self.check("", {"b.txt"}), ["docs/results/b.txt is cited nowhere"])

    def test_absent(self):
        self.assertEqual(self.check("see efficiency-8b.svg.", set()),
            ["a.md cites efficiency-8b.svg, which docs/results/ lacks"])

    def test_head(self):
        texts = {"a.txt": "2026-01-02, 2 NVIDIA H200\n", "b.txt": "2 NVIDIA H200\n", "c.txt": "2026-01-02\n",
            "d.txt": 12 * "1\n" + "2026-01-02, in the simulator\n"}
        self.assertEqual(list(cited.headless(texts)), ["docs/results/b.txt has no day in its first lines",
            "docs/results/c.txt has no device in its first lines", "docs/results/d.txt has no day in its first lines",
            "docs/results/d.txt has no device in its first lines"])

    def test_time_in_the_catalogue(self):
        for text, wrong in ("1 % faster, for 2 MiB", False), ("takes 3.2 us", True), ("in 12ms", True):
            found = list(cited.problems({"schedule/catalog/a.go": text}, set(), None))
            self.assertEqual(bool(found), wrong, text)

    def test_table(self):
        text = "<!-- $ bench/tables.py x -->\n| 1 |\n| 2 |\n"
        self.assertEqual(self.check(text, set()), ["a.md: bench/tables.py x prints otherwise:\n| 1 |\n"])


if __name__ == "__main__":
    unittest.main()
