"""Tests of headline.py: python3 -m unittest discover -s bench"""
import json
import unittest

import headline


def line(point, program, variant, ms, gated=True):
    return json.dumps(dict(point=point, program=program, variant=variant, gated=gated, ms=ms))


LINES = ["a heading",
         line("8B/fc1/128", "torch", "pure", 0.02), line("8B/fc1/128", "nccl", "eager", 0.09),
         line("8B/fc1/128", "nccl", "captured", 0.03), line("8B/fc1/128", "symm_mem", "eager", 0.05),
         line("8B/fc1/128", "one", "eager", 0.04), line("8B/fc1/128", "two", "replayed", 0.025),
         line("8B/fc1/128", "one", "eager", 0.001, gated=False),
         line("8B/fc2/128", "torch", "pure", 1.5), line("8B/fc2/128", "nccl", "eager", 2.0),
         line("8B/fc2/128", "one", "eager", 2.5),
         line("8B/fc2/256", "torch", "pure", 1.0), line("8B/fc2/256", "one", "eager", 2.5),
         json.dumps(dict(point="8B/fc2/128", program="symm_mem", variant="eager", error="it failed"))]


class Headline(unittest.TestCase):
    def test_headline(self):
        self.assertEqual(list(headline.headline(headline.read(LINES))), [
            "2 points: at least as fast as the faster peer at 1, 1.00 times as fast at the median, 0.80 to 1.20",
            "    8B/fc2/128: 0.80", "NCCL and product in turn: 25 to 33 % of the time is not the product's"])

    def test_host(self):
        host = LINES + [line("8B/fc1/128", program, variant, ms, gated=False) for program, variant, ms in
                        (("torch", "pure", 0.1), ("nccl", "eager", 0.3), ("one", "eager", 0.2))]
        self.assertEqual(headline.read(host, host=True), {"8B/fc1/128": {
            "ovgen": (0.001, "one", "eager"), "pure": (0.1, "torch", "pure"), "nccl": (0.3, "nccl", "eager")}})

    def test_product(self):
        """The fastest product counts, whoever timed it, and parts of the work count as nobody's."""
        more = LINES + [line("8B/fc1/128", "one", variant, ms)
                        for variant, ms in (("pure", 0.015), ("chunks", 0.001), ("copies", 0.001))]
        self.assertEqual(headline.read(more)["8B/fc1/128"], {
            "pure": (0.015, "one", "pure"), "nccl": (0.03, "nccl", "captured"), "symm_mem": (0.05, "symm_mem", "eager"),
            "ovgen": (0.025, "two", "replayed")})

    def test_summary(self):
        host = LINES + [line("8B/fc1/128", program, variant, ms, gated=False) for program, variant, ms in
                        (("torch", "pure", 0.1), ("nccl", "eager", 0.0025), ("one", "eager", 0.2))]
        self.assertEqual(list(headline.summary({"a.json": host}))[2:],
            ["| a.json | 2 | 1 | 1.00 | 0.80 to 1.20 | 2.50 |"])

    def test_table(self):
        self.assertEqual(list(headline.table(headline.read(LINES)))[2:], [
            "| 8B/fc1/128 | 0.0200 | 0.0300 | 0.0500 | 0.0250 | 1.20 | 0.80 | two |",
            "| 8B/fc2/128 | 1.500 | 2.000 | - | 2.500 | 0.80 | 0.60 | one |"])


if __name__ == "__main__":
    unittest.main()
