"""Functions that are handed to libraries: who calls them, in which process, is catalog data.

Each row is a program whose one function is only called by a library. Where it draws, that is found; where it seeds, what its own process
draws afterwards is not.
"""

from __future__ import annotations

from functools import cache

import pytest
from conftest import told

PROGRAM = """\
import random
{imports}


def work(*args):
    {does}
    return 1


def main():
    {call}
    {then}


if __name__ == "__main__":
    main()
"""
POOL = "with {0} as pool:\n        {1}"
HERE = {
    "map": ("", "list(map(work, [1]))"),
    "filter": ("", "list(filter(work, [1]))"),
    "sorted": ("", "sorted([1, 2], key=work)"),
    "sort": ("", "rows = [1, 2]\n    rows.sort(key=work)"),
    "max": ("", "max([1, 2], key=work)"),
    "min": ("", "min(1, 2, key=work)"),
    "iter": ("", "list(iter(work, 1))"),
    "sub": ("import re", 're.sub("a", work, "banana")'),
    "sub of a pattern": ("import re", 'pattern = re.compile("a")\n    pattern.sub(repl=work, string="banana")'),
    "groupby": ("import itertools", "list(itertools.groupby([1, 2], work))"),
    "accumulate": ("import itertools", "list(itertools.accumulate([1, 2], work))"),
    "nlargest": ("import heapq", "heapq.nlargest(1, [1, 2], key=work)"),
    "reduce": ("import functools", "functools.reduce(work, [1, 2])"),
    "partial": ("import functools", "functools.partial(work, 1)()"),
    "lru_cache": ("import functools", "functools.lru_cache(work)(1)"),
    "starmap": ("import itertools", "list(itertools.starmap(work, [(1,)]))"),
    "takewhile": ("import itertools", "list(itertools.takewhile(work, [1]))"),
    "exit stack": ("import contextlib", "with contextlib.ExitStack() as stack:\n        stack.callback(work)"),
    "timeit": ("import timeit", "timeit.timeit(work)"),
    "thread": ("import threading", "threading.Thread(target=work).start()"),
    "timer": ("import threading", "threading.Timer(1.0, work).start()"),
    "executor": ("from concurrent.futures import ThreadPoolExecutor", POOL.format("ThreadPoolExecutor()", "pool.submit(work, 1)")),
    "thread pool": ("from multiprocessing.pool import ThreadPool", "ThreadPool(2).starmap(work, [(1,)])"),
    "asyncio": ("import asyncio", "asyncio.run(asyncio.to_thread(work, 1))"),
    "event loop": ("import asyncio", "asyncio.get_event_loop().run_in_executor(None, work, 1)"),
    "vectorize": ("import numpy as np", "np.vectorize(work)([1])"),
    "apply_along_axis": ("import numpy as np", "np.apply_along_axis(work, 0, [1])"),
    "pandas": ("import pandas as pd", "pd.Series([1]).apply(work)"),
    "compile": ("import torch", "torch.compile(work)(1)"),
    "vmap": ("from torch.func import vmap", "vmap(work)(1)"),
    "grad": ("import torch", "torch.func.grad(work)(1)"),
    "checkpoint": ("from torch.utils.checkpoint import checkpoint", "checkpoint(work, 1, use_reentrant=False)"),
    "closure": ("import torch", "torch.optim.LBFGS([]).step(work)"),
    "schedule": ("import torch", "torch.optim.lr_scheduler.LambdaLR(None, work)"),
    "ignite": ("from ignite.engine import Engine", "Engine(work).run([1])"),
    "accelerate": ("from accelerate import notebook_launcher", "notebook_launcher(work, (1,), num_processes=2)"),
    "fabric": ("from lightning.fabric import Fabric", "Fabric(devices=2).launch(work, 3)"),
    "old fabric": ("from lightning_fabric import Fabric", "fabric = Fabric()\n    fabric.launch(work)"),
    "tf function": ("import tensorflow as tf", "tf.function(work)(1)"),
    "tf app": ("import tensorflow as tf", "tf.app.run(work)"),
    "tf app, compatible": ("import tensorflow as tf", "tf.compat.v1.app.run(main=work)"),
    "tf app of version 1": ("import tensorflow.compat.v1 as tf", "tf.app.run(work)"),
    "tf map": ("import tensorflow as tf", "tf.map_fn(work, [1])"),
    "tf cond": ("import tensorflow as tf", "tf.cond(True, work, work)"),
    "tf py_function": ("import tensorflow as tf", "tf.py_function(work, [1], tf.int32)"),
    "tf strategy": ("import tensorflow as tf", "tf.distribute.MirroredStrategy().run(work, args=(1,))"),
    "jit": ("import jax", "jax.jit(work)(1)"),
    "scan": ("import jax", "jax.lax.scan(work, 0, [1])"),
    "pure callback": ("import jax", "jax.pure_callback(work, 1, 2)"),
    "mindspore": ("import mindspore as ms", "ms.jit(work)(1)"),
    "absl": ("from absl import app", "app.run(work)"),
    "CLI": ("from jsonargparse import CLI", "CLI(work)"),
    "CLI of several": ("from jsonargparse import CLI", "CLI([work])"),
    "CLI of a table": ("from jsonargparse import auto_cli", 'auto_cli({"go": work})'),
    "fire": ("import fire", "fire.Fire(work)"),
    "tyro": ("import tyro", "tyro.cli(work)"),
    "typer": ("import typer", "typer.run(work)"),
    "optuna": ("import optuna", "optuna.create_study().optimize(work, n_trials=3)"),
    "wandb": ("import wandb", 'wandb.agent("id", function=work)'),
}  # fmt: skip
"""What runs a function in this process."""
ELSEWHERE = {
    "process": ("import multiprocessing", "multiprocessing.Process(target=work, args=(1,)).start()"),
    "process of torch": ("import torch.multiprocessing as mp", "part = mp.Process(target=work)\n    part.start()"),
    "process of a context": ("import multiprocessing as mp", 'mp.get_context("spawn").Process(target=work).start()'),
    "spawn": ("import torch.multiprocessing as mp", "mp.spawn(work, nprocs=2)"),
    "pool": ("from multiprocessing import Pool", POOL.format("Pool(2)", "pool.map(work, [1])")),
    "executor": ("from concurrent.futures import ProcessPoolExecutor", POOL.format("ProcessPoolExecutor()", "pool.submit(work, 1)")),
    "rpc": ("from torch.distributed import rpc", 'rpc.rpc_async("worker", work, args=(2,)).wait()'),
    "remote": ("from torch.distributed import rpc", 'rpc.remote("worker", work, args=(2,))'),
    "xla": ("import torch_xla.distributed.xla_multiprocessing as xmp", "xmp.spawn(work, nprocs=8)"),
    "elastic": (
        "from torch.distributed.launcher.api import LaunchConfig, elastic_launch",
        "elastic_launch(LaunchConfig(1, 1, 1), work)(1)",
    ),
    "submitit": ("import submitit", 'executor = submitit.AutoExecutor(folder="log")\n    executor.submit(work, 2)'),
    "submitit, several": ("import submitit", 'submitit.LocalExecutor(folder="log").map_array(work, [1, 2])'),
    "spark": ("from pyspark.ml.torch.distributor import TorchDistributor", "TorchDistributor(num_processes=2).run(work, 1)"),
    "horovod": ("import horovod", "horovod.run(work, np=2)"),
    "ray": ("import ray", "ray.get(ray.remote(work).remote(1))"),
    "ray tune": ("from ray import tune", "tune.Tuner(work).fit()"),
    "ray train": ("from ray.train.torch import TorchTrainer", "TorchTrainer(train_loop_per_worker=work).fit()"),
    "joblib": ("from joblib import Parallel, delayed", "Parallel(n_jobs=2)(delayed(work)(i) for i in range(2))"),
    "dask": ("from dask.distributed import Client", "Client().submit(work, 1)"),
    "mpi": ("from mpi4py.futures import MPIPoolExecutor", "MPIPoolExecutor().submit(work, 1)"),
}  # fmt: skip
"""What runs it in another one, or may."""
LATER = {
    "hook": ("from torch import nn", "layer = nn.Linear(1, 1)\n    layer.register_forward_hook(work)\n    layer(1)"),
    "transform": ("from torchvision import transforms", "print(transforms.Lambda(work)(1))"),
    "transforms": ("from torchvision.transforms import Compose", "print(Compose([int, work])(1))"),
    "steps of a library": ("from steps import Pipeline", 'Pipeline(steps={"first": work}, more=[1, work]).run()'),
    "atexit": ("import atexit", "atexit.register(work, 1)"),
    "signal": ("import signal", "signal.signal(signal.SIGALRM, work)"),
    "defaultdict": ("import collections", "print(collections.defaultdict(work)[1])"),
    "finalize": ("import weakref", "weakref.finalize(main, work, 1)"),
}
"""What calls it whenever its object is used."""


@cache
def _unseeded(does: str, then: str, folder: str) -> frozenset[str]:
    return frozenset(row.path.stem for row in told("--select", "DET101", folder))


def found(tmp_path_factory: pytest.TempPathFactory, does: str, then: str = "print()") -> frozenset[str]:
    """The rows with whose program an unseeded draw is found; all programs are checked together."""
    folder = tmp_path_factory.getbasetemp() / ("draws" if then == "print()" else "seeds")
    if not folder.exists():
        folder.mkdir()
        for kind, table in (("here", HERE), ("elsewhere", ELSEWHERE), ("later", LATER)):
            for name, (imports, call) in table.items():
                text = PROGRAM.format(imports=imports, call=call, does=does, then=then)
                (folder / f"{kind} {name}.py").write_text(text, "utf-8")
    return _unseeded(does, then, str(folder))


@pytest.mark.parametrize(
    "name", [*(f"here {n}" for n in HERE), *(f"elsewhere {n}" for n in ELSEWHERE), *(f"later {n}" for n in LATER)]
)
def test_what_a_library_calls_is_of_the_run(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert name in found(tmp_path_factory, "random.random()")


@pytest.mark.parametrize("name", [*(f"here {n}" for n in HERE), *(f"elsewhere {n}" for n in ELSEWHERE)])
def test_what_it_seeds_is_its_own_process(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    unseeded = found(tmp_path_factory, "random.seed(0)", "print(random.random())")
    assert (name in unseeded) is name.startswith("elsewhere")
