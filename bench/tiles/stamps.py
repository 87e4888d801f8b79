#!/usr/bin/env python3
"""Puts stamps of the clock into the kernels of tiles, and compiles them with NVRTC.

    bench/tiles/stamps.py GENERATED NVRTC OUT

GENERATED is the folder of the generated packages, NVRTC the library. OUT gets gather.ptx and scatter.ptx with
stamps, and gather-plain.ptx and scatter-plain.ptx without. bench/tiles/trace.py runs them.
"""
import ctypes
import pathlib
import sys

# Each block has a stamp of each kind for each of its tiles: the last one where several threads write it.
KINDS = ("start", "operands", "multiplied", "let in", "summed", "slot", "stored", "written", "left", "end", "pulled",
         "shard")
CLOCK = """
__device__ u64 stamps[24][132][8][12];  // by launch, block, tile and kind

DEVICE void stamp(u64 launch, unsigned tile, unsigned kind)
{
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
  if (tile < 8) {
    stamps[launch % 24][blockIdx.x][tile][kind] = now;
  }
}
"""
OF_TILE = "(i - blockIdx.x / cluster) / (gridDim.x / cluster)"


def by(thread, kind, tile=OF_TILE):
    return f"if ({thread}) stamp(p.value, {tile}, {KINDS.index(kind)});"


FIRST = "threadIdx.x == 0"
# A piece of the kernel that occurs once, the place of the stamp beside it, and the stamp.
BOTH = [
    ("    const struct Memory m = memory_of_block", "before", by(FIRST, "start", 0)),
    ("        barrier_wait(m.full + 8 * at.stage, at.round);\n        const", "after the wait",
     by("thread == 0 && k == 0", "operands")),
    ("      multiplied<0>();\n", "after", by("thread == 0", "multiplied")),
    ("        tile.row += 64;\n      }\n", "after", by("thread == 0", "stored")),
    ("    warp_meet();\n    end(p);\n", "after", by(FIRST, "end", 0)),
]
GATHER = BOTH + [
    ("      await_shard(p, tile.ahead);\n      for", "after the wait", by(FIRST, "let in")),
    ("        pull(p);\n      }\n    } else {\n      more", "after the wait", by("threadIdx.x == 32", "pulled", 0)),
    ("      store_release(there(p, ahead), 1u);\n", "after", by("true", "shard", "ahead")),
]
SCATTER = BOTH + [
    ("        await_terms(p, tile, wide);\n        load", "after the wait", by(FIRST, "let in")),
    ("        add_terms(p, m, at, d, half);\n", "after", by("thread == 0", "summed")),
    ("        await_slot(p, whole, wide);\n      }\n      const", "after the wait", by("true", "slot")),
    ("        boxes_written();\n", "after", by("true", "written")),
    ("        leave(p, whole, wide, releases);\n", "after", by("true", "left")),
]


def stamped(text, places):
    head, body = text.split("// ----", 1)
    for place, where, code in places:
        if body.count(place) != 1:
            sys.exit(f"stamps.py: {place!r} stands {body.count(place)} times in the text, want once")
        line, rest = place.split("\n", 1) if "\n" in place else ("", place)
        new = {"before": code + "\n" + place, "after": place + code + "\n",
               "after the wait": line + "\n" + code + "\n" + rest}[where]
        body = body.replace(place, new)
    return head + CLOCK + "\n// ----" + body


def compiled(nvrtc, text, headers):
    names = (ctypes.c_char_p * len(headers))(*(("../device/" + h.name).encode() for h in headers))
    texts = (ctypes.c_char_p * len(headers))(*(h.read_bytes() for h in headers))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", len(headers), texts, names)
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_90a", b"--std=c++17")
    result = nvrtc.nvrtcCompileProgram(program, 2, options)
    what = "PTX" if result == 0 else "ProgramLog"
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, out)
    if result:
        sys.exit(out.value.decode())
    return out.value


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    generated, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[3])
    nvrtc = ctypes.CDLL(sys.argv[2])
    headers = sorted((generated / "device").glob("*.h"))
    for name, package, places in (("gather", "allgatherlineartiles", GATHER),
                                  ("scatter", "linearreducescattertiles", SCATTER)):
        text = (generated / package / f"{package}.cu").read_text(encoding="utf-8")
        (out / f"{name}-plain.ptx").write_bytes(compiled(nvrtc, text, headers))
        (out / f"{name}.ptx").write_bytes(compiled(nvrtc, stamped(text, places), headers))


if __name__ == "__main__":
    main()
