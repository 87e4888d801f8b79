"""The generated packages, called through the C library (ovgen gen -c), at the points of peers.py."""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "examples", "torch"))
import ovgen

ELEMENTS = {"bf16": ovgen.BF16, "fp16": ovgen.FP16, "fp32": ovgen.FP32}


def buffers(**addresses):
    """struct ovgen_NAME_buffers: A, B, Bias where the schedule has one, C."""
    fields = type("Buffers", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_uint64) for name in addresses]})
    return fields(**addresses)


class Ours:
    """This process's membership in a group of ovgen, with an arena that the largest of the points needs."""

    def __init__(self, library, device, points, **config):
        # For each element two bytes of staging and twelve of packets, and as much again between.
        gathered = max([m * k for _, layer, m, k, _ in points if layer == "fc1"] + [0])
        slots = max([2 * m * n for _, layer, m, _, n in points if layer == "fc2"] + [0])
        self.group = ovgen.Group(ovgen.Library(library), device=device,
            arena_bytes=16 * max(gathered, slots) + (64 << 20), **config)

    def plan(self, name, shape, element, **addresses):
        """A plan of the package NAME, bound. Collective, also where it fails: then on all ranks."""
        plan = ovgen.Plan(self.group, name, ovgen.Shape(*shape, ELEMENTS[element]))
        try:
            plan.bind(buffers(**addresses))
        except ovgen.Error:
            plan.close()
            raise
        return plan

    def broken(self):
        """Why the group is dead, or an empty text."""
        try:
            self.group.check()
        except ovgen.Error as e:
            return f"{type(e).__name__}: {e}"
        return ""

    def close(self):
        self.group.close()
