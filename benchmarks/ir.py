"""What lowering costs: CPU time against `ast.parse` alone over the same files, in one run, and bytes a file.

    python benchmarks/ir.py PATH... [--files 1000] [--rounds 3] [--seed 1]

PATH is a folder of Python sources, such as an unpacked wheel. Each file is parsed, lowered and encoded in turn, so that a machine
whose speed drifts favours neither; of each step the fastest of the rounds counts. `lowered` is the walk and what names mean, with the
encoding of bodies and places that `lower` does; `stored` is the rest, up to the bytes that are kept; `read` decodes what is known
without bodies; `all read` decodes bodies and places as well.
"""

from __future__ import annotations

import argparse
import ast
import gc
import random
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path

from detlint.ir.lower import lower
from detlint.ir.storage import body_of, decode, encode, spans_of

STEPS = ("parsed", "lowered", "stored", "read", "all read")


def measured(source: bytes, seconds: Counter[str]) -> Counter[str]:
    """Add what each step takes, and give sizes in bytes."""
    clock = time.process_time
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
    return Counter({"source": len(source), "bodies": bodies, "places": len(ir.spans), "all": len(data), "files": 1})


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
    total: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    gc.disable()
    for file in files[: options.files]:
        source = file.read_bytes()
        rounds = []
        try:
            for _ in range(options.rounds):
                seconds: Counter[str] = Counter()
                size = measured(source, seconds)
                rounds.append(seconds)
        except (SyntaxError, ValueError):
            continue
        sizes += size
        total.update({step: min(seconds[step] for seconds in rounds) for step in rounds[0]})
        gc.collect(0)
    parse = total["parsed"]
    print(f"{sizes['files']} files of {sizes['source'] / sizes['files']:.0f} bytes, `ast.parse` {parse:.2f} s")
    print("against it: " + ", ".join(f"{step} {seconds / parse:.2f}" for step, seconds in total.items()))
    print(f"parsed, lowered and stored: {(parse + total['lowered'] + total['stored']) / parse:.2f}")
    print(
        "bytes a file: "
        + ", ".join(f"{kind} {sizes[kind] / sizes['files']:.0f}" for kind in ("all", "bodies", "places"))
    )


if __name__ == "__main__":
    main()
