#!/usr/bin/env python3
"""Checks that the documents and docs/results belong together: each file of docs/results is cited, each cited file is
there, each text of docs/results has the day and the device at its head, no comment of the catalogue has a time of its
own, and below each line "<!-- $ bench/PROGRAM ... -->" of a document stands the output of that command.

usage: bench/cited.py
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

RESULTS = "docs/results/"
CITATION = re.compile(r"\d{4}-\d\d-\d\d-[\w-]+\.(?:txt|json|svg)|efficiency-[\w-]+\.svg")
TIME = re.compile(r"\d ?(?:us|ms)\b")
COMMAND = re.compile(r"<!-- \$ (bench/[^>]*) -->\n((?:\|.*\n)*)")
HEAD = {"day": re.compile(r"\b20\d\d-\d\d-\d\d\b"), "device": re.compile(r"\b(?:H[12]00s?|sim|simulator)\b")}


def problems(texts, results, run):
    """Yields each fault. texts has each file outside docs/results by its name, results the names within, and run
    returns the output of a command."""
    cited = {}
    for name, text in texts.items():
        for citation in CITATION.findall(text):
            cited.setdefault(citation, name)
    yield from (f"{RESULTS}{name} is cited nowhere" for name in sorted(results - set(cited)))
    yield from (f"{name} cites {c}, which {RESULTS} lacks" for c, name in sorted(cited.items()) if c not in results)
    yield from (f"{name} has a time: a comment of the catalogue says when to choose, and documents cite figures"
                for name, text in texts.items() if name.startswith("schedule/catalog/") and TIME.search(text))
    for name, text in texts.items():
        for command, table in COMMAND.findall(text) if name.endswith(".md") else ():
            command = " ".join(command.split())
            if (now := run(command)) != table:
                yield f"{name}: {command} prints otherwise:\n{now}"


def headless(results):
    """Yields each text whose head lacks something. results has the texts by their names."""
    for name, text in sorted(results.items()):
        head = "\n".join(text.splitlines()[:12])
        yield from (f"{RESULTS}{name} has no {what} in its first lines" for what, form in HEAD.items()
            if not form.search(head))


# Generated code, figures themselves, and tests that make names up.
APART = ("generated/", RESULTS, "bench/plot/", "bench/test_")


def git_files():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True)
    return [n for n in names.stdout.splitlines() if os.path.exists(n)]


def output(command):
    r = subprocess.run([sys.executable, "-B", *shlex.split(command)], capture_output=True, text=True)
    return r.stdout + r.stderr


def read(names):
    """The text of the files that may cite."""
    for name in names:
        if name.endswith((".md", ".go", ".py", ".sh")) and not name.startswith(APART):
            with open(name, encoding="utf-8") as file:
                yield name, file.read()


def main():
    names = git_files()
    results = {n.removeprefix(RESULTS) for n in names if n.startswith(RESULTS)}
    found = list(problems(dict(read(names)), results, output))
    found += headless({n: pathlib.Path(RESULTS, n).read_text(encoding="utf-8") for n in results if n.endswith(".txt")})
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
