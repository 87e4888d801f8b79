"""Tests of compare.py: python3 -m unittest discover -s bench"""
import unittest

import compare

TABLES = """\
2026-01-01, two devices
one, two 64,32,16 bf16, 2 ranks: ms, median of the slowest rank over 24 rounds
one eager, gated   {a}     0.1000..0.3000       100.0    200.0  0.500   8.0
two replayed       {b}     0.1000..0.3000       100.0    200.0  0.500   8.0
pure               0.1000     0.1000..0.3000    100.0    200.0  0.500   8.0
chunks, gated      {c}     0.1000..0.3000       100.0    200.0  0.500   8.0
copies             0.1000     0.1000..0.3000    8.0
one: efficiency, better of eager and replayed: 0.593, gated 0.583

reducescatter reduce-scatter of 2097152 bytes bf16, 2 ranks: ms, median of the slowest rank over 24 rounds
                   ms        min..max           GB/s      bus   host us
eager              {d}     0.0265..0.0404        60.3     30.1      13.2

allgather all-gather of 2097152 bytes bf16, 2 ranks: ms, median of the slowest rank over 24 rounds
eager              {e}     0.0265..0.0404        60.3     30.1      13.2
"""


def rounds(*sections):
    """Outputs in turn, each of a binary and the times of its five figures."""
    return "".join(f"== {binary} round {i}\n" + TABLES.format(**dict(zip("abcde", times)))
                   for i, (binary, *times) in enumerate(sections)).splitlines()


class Compare(unittest.TestCase):
    lines = rounds(("run-base", 1.0, 2.0, 1.0, 0.1, 0.4), ("run", 0.5, 2.2, 9.0, 0.3, 0.4),
                   ("run-base", 1.0, 2.0, 1.0, 0.1, 0.4), ("run", 0.5, 1.9, 9.0, 0.1, 0.4))

    def test_ratios(self):
        got = {name: round(ratio, 3) for ratio, name, _ in compare.compare(self.lines)}
        self.assertEqual(got, {
            ("one, two 64,32,16 bf16", "one eager, gated"): 0.5,
            ("one, two 64,32,16 bf16", "two replayed"): 1.025,
            ("reducescatter reduce-scatter of 2097152 bytes bf16", "eager"): 2.0,
            ("allgather all-gather of 2097152 bytes bf16", "eager"): 1.0,
        })

    def test_worse(self):
        lines = list(compare.report(compare.compare(
            rounds(("run-base", 1.0, 2.0, 1.0, 0.1, 0.4), ("run", 1.1, 2.0, 1.0, 0.1, 0.3)))))
        self.assertEqual([line for line in lines if line.endswith("worse in every round")], [lines[3], lines[4]])
        self.assertEqual(lines[4], "4 figures, new over old: median 1.000, 0.750 to 1.100; 1 worse in every round")

    def test_one_binary(self):
        self.assertEqual(compare.compare(rounds(("run", 1.0, 2.0, 1.0, 0.1, 0.4))), [])


if __name__ == "__main__":
    unittest.main()
