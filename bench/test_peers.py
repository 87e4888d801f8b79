"""Tests of peers.py: python3 -m unittest discover -s bench"""
import unittest

import peers


def row(program, form, gated, ms, **more):
    return dict(dict(point="8B/fc1/128", type="bf16", m=128, k=4096, n=7168, program=program, variant=form, gated=gated,
                     ms=ms, efficiency=0.5), **more)


class Peers(unittest.TestCase):
    def test_table(self):
        rows = [row("torch", "pure", gated, 0.02, product="cuBLASLt 3") for gated in (False, True)]
        rows += [row("nccl", "eager", False, 0.2), row("nccl", "eager", True, 0.05)]
        rows += [row("nccl", "captured", False, 0.06), row("nccl", "captured", True, 0.04)]
        rows += [row("one", "eager", True, 0.07), row("two", "replayed", True, 0.03)]
        rows.append(dict(rows[0], program="symm_mem", variant="eager", error="it failed"))
        del rows[-1]["ms"]
        head, error = peers.table(rows).splitlines()
        self.assertEqual(head.split()[:3], ["8B/fc1/128", "bf16", "128,4096,7168"])
        self.assertEqual(head[44:].split("  cuBLASLt")[0].replace("(0.50)", "").split(),
            ["0.0200", "0.0200", "0.0600", "0.0400", "-", "-", "-", "0.0300"])
        self.assertTrue(head.endswith("  cuBLASLt 3, nccl captured, two replayed"), head)
        self.assertEqual(error, "    symm_mem eager: it failed")

    def test_tally(self):
        self.assertEqual(peers.tally([("nccl eager", True), ("nccl symmetric", False), ("nccl eager", True),
            ("nccl symmetric", True)]).splitlines(),
            ["    nccl eager: ran at 2 of 2 points", "    nccl symmetric: ran at 1 of 2 points"])

    def test_window(self):
        points = [("x", "fc1", 64, 8, 1000), ("y", "fc2", 32, 1000, 10)]
        self.assertEqual(peers.window_bytes(points, 2) - 4096, 4 * (64 * 8 + 32 * 8))

    def test_points(self):
        points = peers.grid(2)
        self.assertEqual([p[0] for p in peers.chosen(points, "DDLB/*;8B/fc1/128")],
            ["8B/fc1/128", "DDLB/fc1/32768", "DDLB/fc2/32768"])
        self.assertIn(("8B/fc1/128", "fc1", 128, 4096, 7168), points)
        self.assertIn(("8B/fc2/128", "fc2", 128, 14336, 4096), points)
        with self.assertRaises(SystemExit):
            peers.chosen(points, "9B/*")


if __name__ == "__main__":
    unittest.main()
