"""What lowering costs: CPU time against `ast.parse` alone over the same files, in one run, and bytes a file.

    python benchmarks/ir.py PATH... [--files 1000] [--rounds 3] [--seed 1]

PATH is a folder of Python sources, such as an unpacked wheel. Each file is parsed, lowered and encoded in turn, so that a machine
whose speed drifts favours neither; of each step the fastest of the rounds counts. `lowered` is the walk and what names mean, with the
encoding of bodies and places that `lower` does; `stored` is the rest, up to the bytes that are kept; `read` decodes what is known
without bodies; `all read` decodes bodies and places as well. All of it runs without looking for garbage, as `detlint` reads files.
`ast.parse` by itself is measured in both ways: so, and as a program calls it that knows nothing of that.
"""

from __future__ import annotations

import argparse
import ast
import gc
import random
import time
import warnings
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from detlint.ir.lower import lower
from detlint.ir.spans import spans_of
from detlint.ir.storage import body_of, decode, encode

STEPS = ("parsed", "lowered", "stored", "read", "all read")


def measured(source: bytes, seconds: dict[str, float]) -> Counter[str]:
    """Add what each step takes, and give sizes in bytes."""
    clock = time.process_time
    gc.enable()
    start = clock()
    ast.parse(source)
    seconds["plain"] = clock() - start
    gc.disable()
    times = [clock()]
    tree = ast.parse(source)
    times.append(clock())
    ir = lower(tree)
    times.append(clock())
    data = encode(ir)
    times.append(clock())
    again = decode(data)
    times.append(clock())
    for number in range(len(again.functions)):
        body_of(again, number)
        spans_of(again, number)
    times.append(clock())
    seconds.update({step: end - start for step, (start, end) in zip(STEPS, pairwise(times), strict=True)})
    bodies = sum(len(bytes(body)) for body in ir.bodies)
    return Counter(
        {"source": len(source), "bodies": bodies, "places": sum(map(len, ir.spans)), "all": len(data), "files": 1}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=1000, help="how many, drawn at random")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    files = sorted(file for path in options.paths for file in path.rglob("*.py"))
    random.Random(options.seed).shuffle(files)
    total = defaultdict[str, float](float)
    sizes: Counter[str] = Counter()
    gc.disable()
    for file in files[: options.files]:
        source = file.read_bytes()
        rounds = []
        try:
            for _ in range(options.rounds):
                seconds = dict[str, float]()
                size = measured(source, seconds)
                rounds.append(seconds)
        except (SyntaxError, ValueError):
            continue
        sizes += size
        for step in rounds[0]:
            total[step] += min(seconds[step] for seconds in rounds)
        gc.collect(0)
    parse = total["parsed"]
    print(f"{sizes['files']} files of {sizes['source'] / sizes['files']:.0f} bytes, `ast.parse` {parse:.2f} s")
    print("against it: " + ", ".join(f"{step} {total[step] / parse:.2f}" for step in STEPS))
    done = parse + total["lowered"] + total["stored"]
    print(
        f"parsed, lowered and stored: {done / parse:.2f}; against `ast.parse` with garbage looked for: {done / total['plain']:.2f}"
    )
    print(
        "bytes a file: "
        + ", ".join(f"{kind} {sizes[kind] / sizes['files']:.0f}" for kind in ("all", "bodies", "places"))
    )


if __name__ == "__main__":
    main()
