#!/usr/bin/env python3
"""Puts delays at random into the kernels of tiles, and compiles them with NVRTC.

    bench/tiles/delays.py GENERATED NVRTC OUT
    go build -overlay OUT/overlay.json -o run ./generated/run
    ./run verify allgatherlineartiles linearreducescattertiles -ranks 2 -driver cuda

GENERATED is the folder of the generated packages, NVRTC the library. OUT gets their PTX with the delays of delays.h,
and the overlay by which a build takes it. Its bits must be those of kernels without delays.
"""
import ctypes
import hashlib
import json
import pathlib
import re
import sys

from stamps import compiled

PACKAGES = ("allgatherlineartiles", "linearreducescattertiles")


def delayed(text, delays):
    """The kernels' text with the delays behind the headers, and how many places there are of each kind."""
    head, body = text.split("// ----", 1)
    places = {name: len(re.findall(rf"\b{name}\(", body)) for name in re.findall(r"#define (\w+)", delays)}
    return f"{head}{delays}\n// ----{body}", places


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    generated, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    nvrtc = ctypes.CDLL(sys.argv[2])
    headers = sorted((generated / "device").glob("*.h"))
    delays = pathlib.Path(__file__).with_name("delays.h").read_text(encoding="utf-8")
    replace, found = {}, {}
    for name in PACKAGES:
        text, places = delayed((generated / name / f"{name}.cu").read_text(encoding="utf-8"), delays)
        found = {place: found.get(place, 0) + n for place, n in places.items()}
        file = generated / name / f"{name}_sm90a.ptx"
        head = file.read_text(encoding="utf-8").split("\n//\n", 1)[0]
        ptx = compiled(nvrtc, text, headers).rstrip(b"\0")
        digest = hashlib.sha256(f"{len(ptx)}\n".encode() + ptx).hexdigest()
        head = re.sub(r"(// PTX    sha256 )\w+", rf"\g<1>{digest}", head)
        made = out / file.name
        made.write_bytes(head.encode() + b"\n//\n" + ptx)
        replace[str(file)] = str(made)
        print(f"{name}: delays before {', '.join(f'{n} of {place}' for place, n in places.items() if n)}")
    if missing := [place for place, n in found.items() if not n]:
        sys.exit(f"delays.py: no kernel has {', '.join(missing)} (delays.h names a function that no kernel calls)")
    (out / "overlay.json").write_text(json.dumps({"Replace": replace}), encoding="utf-8")


if __name__ == "__main__":
    main()
