"""Which operators of the catalog really vary on this GPU, and under which switch.

    python benchmarks/gpu/operators.py [--times 50] [--size 100000] [--out benchmarks/gpu]

Each operator for which `samples.py` has inputs runs many times on the same ones, forward and backward, first as PyTorch
comes and then under `torch.use_deterministic_algorithms(True)`. It writes `operators.json`, which
`tests/test_gpu_results.py` holds against the catalog, and the table in `RESULTS.md`. Without a GPU it says so and writes
nothing. `--device cpu` is for trying the script itself.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS raises under the switch

import torch
from machine import asked, digest
from samples import SAMPLES, Case

HERE = Path(__file__).parent


def different(run: Callable[[], list[torch.Tensor]], times: int) -> dict[str, Any]:
    """How many different results came of equal inputs, or the error that came instead."""
    try:
        return {"results": len({tuple(digest(tensor) for tensor in run()) for _ in range(times)})}
    except RuntimeError as error:
        return {"raised": str(error).splitlines()[0]}


def passes(case: Case) -> dict[str, Callable[[], list[torch.Tensor]]]:
    """The forward pass, and where there are gradients the backward pass, with a gradient that is the same each time."""
    runs: dict[str, Callable[[], list[torch.Tensor]]] = {"forward": lambda: [case.call()]}
    if case.leaves:

        def backward() -> list[torch.Tensor]:
            out = case.call()
            weights = torch.linspace(0.5, 1.5, out.numel(), device=out.device).view(out.shape)
            return [*torch.autograd.grad(out, case.leaves, weights)]

        runs["backward"] = backward
    return runs


def measured(device: torch.device, times: int, size: int) -> list[dict[str, Any]]:
    """A row for each sample and pass: the API, and what came with the switch off and on."""
    rows = []
    for api, samples in sorted(SAMPLES.items()):
        for shows, make in samples:
            torch.manual_seed(0)
            for name, run in passes(make(device, size)).items():
                row: dict[str, Any] = {"api": api, "sample": shows, "pass": name}
                for switch in (False, True):
                    torch.use_deterministic_algorithms(switch)
                    row["on" if switch else "off"] = different(run, times)
                torch.use_deterministic_algorithms(False)
                rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    def told(found: dict[str, Any]) -> str:
        if "raised" in found:
            return "raises"
        return "equal" if found["results"] == 1 else f"{found['results']} results"

    lines = ["| API | sample | pass | as it comes | under the switch |", "|---|---|---|---|---|"]
    lines += [f"| `{r['api']}` | {r['sample']} | {r['pass']} | {told(r['off'])} | {told(r['on'])} |" for r in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=HERE)
    options = asked(parser)
    torch.set_num_threads(1)  # several threads of a CPU write to the same places in any order, too
    machine = torch.cuda.get_device_name() if options.device == "cuda" else "CPU: a trial of the script, no result"
    rows = measured(torch.device(options.device), options.times, options.size)
    head = {"machine": machine, "torch": torch.__version__, "cuda": torch.version.cuda, "times": options.times}
    head["size"] = options.size
    (options.out / "operators.json").write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
    title = (
        f"# Operators on a GPU\n\n{machine}, PyTorch {head['torch']}, {options.times} runs of each on equal inputs.\n\n"
    )
    (options.out / "RESULTS.md").write_text(title + table(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
