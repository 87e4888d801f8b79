"""Tests of window.py: python3 -m unittest discover -s bench"""
import os
import unittest
from types import SimpleNamespace
from unittest import mock

import window

ADDRESS, SIZE = 0x7000_0000, 4096
BF16 = SimpleNamespace(itemsize=2)


class Library:
    """Stands for NCCL's library: keeps the names of the calls, and fails in one of them."""

    def __init__(self, fails="", made=0x1234):
        self.fails, self.made, self.calls = fails, made, []
        self.ncclGetErrorString = mock.Mock(return_value=b"it is so")

    def call(self, name, *arguments):
        self.calls.append((name, *(getattr(a, "value", None) for a in arguments)))
        return 5 if name == self.fails else 0

    def ncclMemAlloc(self, address, size):
        address._obj.value = None if self.fails == "MemAlloc" else ADDRESS
        return self.call("MemAlloc", size)

    def ncclCommWindowRegister(self, comm, address, size, made, flags):
        made._obj.value = self.made
        return self.call("CommWindowRegister", comm, address, size, flags)

    def ncclCommWindowDeregister(self, comm, made):
        return self.call("CommWindowDeregister", comm, made)

    def ncclMemFree(self, address):
        return self.call("MemFree", address)

    def ncclGetVersion(self, version):
        version._obj.value = 22809
        return self.call("GetVersion")


class Tensor:
    """Stands for a tensor: bytes from an address on."""

    def __init__(self, address, size):
        self.address, self.size = address, size

    def __getitem__(self, part):
        return Tensor(self.address + part.start, part.stop - part.start)

    def view(self, *_):
        return self

    def data_ptr(self):
        return self.address

    def numel(self):
        return self.size

    def element_size(self):
        return 1


class Job:
    """Stands for a job of one rank."""
    bytes_at, synchronize = staticmethod(Tensor), staticmethod(lambda: None)

    def __init__(self, comm=7, reaches=True):
        self.communicator, self.reaches = lambda: comm, lambda: reaches

    def attempt(self, call):
        try:
            return call(), ""
        except RuntimeError as e:
            return None, str(e)


class Windows(unittest.TestCase):
    def test_opened(self):
        library = Library()
        w = window.Window(Job(), SIZE, library)
        self.assertEqual(w.error, "")
        self.assertEqual(str(w), f"4096 bytes at {ADDRESS:#x}, by NCCL 22809")
        w.close()
        self.assertEqual(library.calls, [("MemAlloc", SIZE), ("CommWindowRegister", 7, ADDRESS, SIZE, 1),
            ("GetVersion",), ("CommWindowDeregister", 7, 0x1234), ("MemFree", ADDRESS)])

    def test_parts(self):
        w = window.Window(Job(), SIZE, Library())
        first, second = w.tensor(3, 5, dtype=BF16), w.tensor(1000, dtype=BF16)
        self.assertEqual([(t.address, t.size) for t in (first, second)], [(ADDRESS, 30), (ADDRESS + 256, 2000)])
        w.check(first, second)
        with self.assertRaisesRegex(RuntimeError, "the window has 4096 bytes, 4304 are needed"):
            w.tensor(1000, dtype=BF16)
        w.clear()
        self.assertEqual(w.tensor(2048, dtype=BF16).address, ADDRESS)

    def test_outside(self):
        w = window.Window(Job(), SIZE, Library())
        w.check(Tensor(ADDRESS, SIZE))
        for t in (Tensor(ADDRESS - 1, 8), Tensor(ADDRESS + 1, SIZE), Tensor(ADDRESS + SIZE, 1)):
            with self.assertRaisesRegex(RuntimeError, "outside the window"):
                w.check(Tensor(ADDRESS, 8), t)

    def test_refused(self):
        registered = ["MemAlloc", "CommWindowRegister", "MemFree"]
        for library, job, error, calls in (
                (Library("MemAlloc"), Job(), "ncclMemAlloc: it is so", ["MemAlloc"]),
                (Library("CommWindowRegister", None), Job(), "ncclCommWindowRegister: it is so", registered),
                (Library(made=None), Job(), "ncclCommWindowRegister made no window", registered),
                (Library(), Job(comm=0), "torch has made no communicator of NCCL", []),
                (Library(), Job(reaches=False), "the GPUs do not reach each other's memory", [])):
            w = window.Window(job, SIZE, library)
            self.assertIn(error, w.error)
            self.assertIn(error, str(w))
            with self.assertRaisesRegex(RuntimeError, error):
                w.tensor(1, dtype=BF16)
            w.close()
            self.assertEqual([c[0] for c in library.calls], calls)

    def test_switched_off(self):
        for name in ("NCCL_CUMEM_ENABLE", "NCCL_WIN_ENABLE"):
            with mock.patch.dict(os.environ, {name: "0"}):
                self.assertIn(f"where {name} is 0", window.Window(Job(), SIZE, Library()).error)

    def test_loaded(self):
        line = "7f00-7f01 r-xp 00000000 08:01 42 {}\n"
        maps = ["7f00-7f01 rw-p 00000000 00:00 0\n", line.format("/lib/libnccl-net.so"), line.format("/lib/libc.so.6"),
                line.format("/a folder/nccl/lib/libnccl.so.2")]
        self.assertEqual(window.loaded(maps), "/a folder/nccl/lib/libnccl.so.2")
        with self.assertRaisesRegex(RuntimeError, "no libnccl.so"):
            window.loaded(maps[:3])


if __name__ == "__main__":
    unittest.main()
