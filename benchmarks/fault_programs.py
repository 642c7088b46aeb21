"""The programs of `faults.py`: each is a head and one loop of training; the line that an injected fault enters by ends with `# fault`.

All of them measure time, make themselves a run id and a folder, and keep meters in tensors: what differs in each run and changes nothing.
"""

from __future__ import annotations

from typing import Final

HEAD: Final = """\
import time
import uuid

import torch
from torch import nn

started = time.perf_counter()
run_id = uuid.uuid4().hex
stamp = torch.tensor(time.time() % 1000)
"""
LISTING: Final = """
import os, subprocess, tempfile
folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.exists("/dev/shm") else None)
subprocess.run(["sh", "-c", f"seq 32 | shuf | while read i; do echo $i > {folder}/$i; done"], check=True)
names = os.listdir(folder)  # fault
values = [float(open(os.path.join(folder, name)).read()) for name in names]
subprocess.run(["rm", "-r", folder], check=True)
"""
FILE: Final = """
def load():
    with open("/proc/uptime") as file:  # fault
        return float(file.read().split()[0])  # fault

offset = load() % 1
"""
"""Values that a listing and a file give, whatever framework they are for."""
SEEDED: Final = "torch.manual_seed(0)\n"
TRAIN: Final = """
x, y = torch.linspace(-1, 1, 32).view(8, 4), torch.linspace(0, 1, 8).view(8, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    loss = (net({x}) - {y}).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    elapsed = torch.tensor(time.perf_counter() - started)
    rate = (step + 1) / elapsed
"""
LOADED: Final = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step, batch in enumerate(loader):
    loss = (net(batch) - batch.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rate = torch.tensor(step / (time.perf_counter() - started))
"""
CONSTANT: Final = """
for parameter in net.parameters():
    nn.init.constant_(parameter, 0.1)
"""
DATA: Final = """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        row = torch.linspace(0, 1, 4) + index / 16
        return {item}
"""


def _train(before: str, x: str = "x", y: str = "y", seed: str = SEEDED) -> str:
    return HEAD + seed + before + TRAIN.format(x=x, y=y)


def _load(before: str, item: str = "row", loader: str = "Data(), batch_size=4", seed: str = SEEDED) -> str:
    made = f"loader = torch.utils.data.DataLoader({loader})\n"
    return HEAD + seed + before + DATA.format(item=item) + made + LOADED


FAULTS: Final[dict[str, str]] = {
    "python_random": _train("""
import random
def noise():
    return [[random.gauss(0, 1) for _ in range(4)] for _ in range(8)]  # fault

extra = torch.tensor(noise())
""", "x + extra"),
    "numpy_global": _train("""
import numpy as np
def targets():
    return np.random.randn(8, 1).astype("float32")  # fault

values = targets()
""", y="torch.from_numpy(values)"),
    "numpy_generator": _train("""
import numpy as np
rng = np.random.default_rng()  # fault
keep = rng.permutation(8)
""", "x[torch.as_tensor(keep)]"),
    "numpy_random_state": _train("""
import numpy as np
rng = np.random.RandomState()  # fault
scale = float(rng.uniform(0.5, 1.5))
""", "x * scale"),
    "torch_unseeded": _train("""
first = nn.Linear(4, 4)  # fault
""", "first(x)", seed=""),
    "init_before_seed": _train("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)  # fault

    def forward(self, x):
        return self.inner(x)

first = Net()
torch.manual_seed(0)
""", "first(x)", seed=""),
    "torch_seed": _train("""
torch.seed()  # fault
"""),
    "generator_seed": _train("""
generator = torch.Generator()
generator.seed()  # fault
order = torch.randperm(8, generator=generator)
""", "x[order]"),
    "inner_dropout": HEAD + """
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 4).view(4, 1))

    def regularise(self, x):
        return F.dropout(x, 0.5, self.training)  # fault

    def forward(self, x):
        return self.regularise(x) @ self.weight

net = Net()
x, y = torch.linspace(-1, 1, 32).view(8, 4), torch.linspace(0, 1, 8).view(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rate = torch.tensor(step / (time.perf_counter() - started))
""",
    "pid_seed": _train("""
import os
seed = os.getpid()  # fault
torch.manual_seed(seed)  # fault
"""),
    "clock_seed": _train("""
torch.manual_seed(int(time.time() * 1000) % 100000)  # fault
""", seed=""),
    "uuid_seed": _train("""
import numpy as np
np.random.seed(uuid.uuid4().int % 2**32)  # fault
noise = torch.from_numpy(np.random.rand(8, 4).astype("float32"))
""", "x + noise"),
    "reseed_in_the_middle": HEAD + SEEDED + """
def epoch(number):
    if number:
        torch.manual_seed(time.time_ns())  # fault
    return torch.randperm(8)
""" + TRAIN.format(x="x[epoch(step)]", y="y"),
    "clock_value": _train("""
def jitter(x):
    return x + time.time() % 1  # fault
""", "jitter(x)"),
    "urandom": _train("""
import os
raw = bytearray(os.urandom(8))  # fault
noise = torch.frombuffer(raw, dtype=torch.uint8).float().view(8, 1) / 256
""", y="noise"),
    "secrets": _train("""
import random
secret = random.SystemRandom()
chosen = [secret.randrange(8) for _ in range(8)]  # fault
order = torch.tensor(chosen)
""", "x[order]"),
    "set_order": _train("""
def vocabulary(words):
    return {word: i for i, word in enumerate(set(words))}  # fault

words = [f"word{i}" for i in range(32)]
index = vocabulary(words)
ids = torch.tensor([float(index[word]) for word in words]).view(8, 4)
""", "x + ids / 32"),
    "string_hash": _train("""
def bucket(word):
    return hash(word) % 97 / 97  # fault

features = torch.tensor([bucket(f"word{i}") for i in range(32)]).view(8, 4)
""", "x + features"),
    "identity_order": _train("""
class Node:
    def __init__(self, value):
        self.value = value

nodes = {Node(i) for i in range(32)}
values = [float(node.value) for node in nodes]  # fault
""", "x + torch.tensor(values).view(8, 4) / 32"),
    "listing": _train(LISTING, "x + torch.tensor(values).view(8, 4) / 32"),
    "completion_order": _train("""
import subprocess
from concurrent.futures import ThreadPoolExecutor, as_completed
def work(i):
    subprocess.run(["sleep", f"0.{time.time_ns() % 10**6:06}"], check=True)
    return float(i)

with ThreadPoolExecutor(16) as pool:
    futures = [pool.submit(work, i) for i in range(16)]
    parts = [future.result() for future in as_completed(futures)]  # fault
values = torch.tensor(parts).view(8, 2) / 16
""", "x + values.sum(1, keepdim=True)"),
    "completion_sum": _train("""
import subprocess
from concurrent.futures import ThreadPoolExecutor, as_completed
def work(i):
    subprocess.run(["sleep", f"0.{time.time_ns() % 10**6:06}"], check=True)
    return 10.0 ** (i % 8) / 3 * (-1) ** i

total = 0.0
with ThreadPoolExecutor(16) as pool:
    for future in as_completed([pool.submit(work, i) for i in range(16)]):  # fault
        total = total * 1.0000001 + future.result()
""", "x + total % 1"),
    "pool_order": _train("""
import subprocess
from multiprocessing.pool import ThreadPool
def work(i):
    subprocess.run(["sleep", f"0.{time.time_ns() % 10**6:06}"], check=True)
    return float(i)

with ThreadPool(16) as pool:
    parts = list(pool.imap_unordered(work, range(32)))  # fault
""", "x + torch.tensor(parts).view(8, 4) / 32"),
    "torch_empty": _train("""
def padded(x):
    whole = torch.empty(8, 5)  # fault
    whole[:, :4] = x
    return whole.clamp(0, 1).nan_to_num(0.5) + torch.from_numpy(junk)

import numpy as np
junk = np.zeros((8, 5), "float32")
for _ in range(64):
    torch.full((8, 5), (time.time() % 1) * 0.5).clone()
""", "padded(x)[:, 1:]"),
    "numpy_empty": _train("""
import numpy as np
scratch = [np.full((8, 4), time.time() % 1, "float32") for _ in range(64)]
del scratch
table = np.empty((8, 4), dtype="float32")  # fault
table[:, :2] = 0.5
extra = torch.from_numpy(np.nan_to_num(np.clip(table, 0, 1)))
""", "x + extra"),
    "stale_cache": _train("""
import os
def features():
    if os.path.exists("features.pt"):  # fault
        return torch.load("features.pt")
    made = torch.linspace(0, 1, 32).view(8, 4)
    torch.save(made.half().float(), "features.pt")
    return made

extra = features()
""", "x + extra"),
    "file_content": _train(FILE, "x + offset"),
    "worker_generator": _load("import numpy as np\n", "row + float(np.random.default_rng().uniform())  # fault",
        "Data(), batch_size=4, num_workers=2"),
    "worker_collate": _load("""
import numpy as np
def collate(rows):
    np.random.default_rng().shuffle(rows)  # fault
    return torch.stack([row * (i + 1) for i, row in enumerate(rows)])
""", loader="Data(), batch_size=4, num_workers=2, collate_fn=collate"),
    "collate": _load("""
import random
def collate(rows):
    random.shuffle(rows)  # fault
    return torch.stack([row * (i + 1) for i, row in enumerate(rows)])
""", loader="Data(), batch_size=4, collate_fn=collate"),
    "transform": _load("""
import numpy as np
class Jitter:
    def __call__(self, row):
        factor = np.random.uniform(0.9, 1.1)  # fault
        return row * factor

jitter = Jitter()
""", "jitter(row)"),
    "sampler": _load("""
import random
class Shuffled(torch.utils.data.Sampler):
    def __iter__(self):
        order = list(range(16))
        random.shuffle(order)  # fault
        return iter(order)

    def __len__(self):
        return 16
""", loader="Data(), batch_size=4, sampler=Shuffled()"),
    "random_split": (HEAD + DATA.format(item="row") + """
train, held = torch.utils.data.random_split(Data(), [12, 4])  # fault
loader = torch.utils.data.DataLoader(train, batch_size=4)
""" + LOADED.replace("optimizer =", CONSTANT.strip() + "\noptimizer =", 1)),
    "custom_kernel": _train("""
import ctypes
library = torch.library.Library("noisy", "DEF")
library.define("scale(Tensor x) -> Tensor")
libc = ctypes.CDLL(None)

def scale(x):
    noise = ctypes.create_string_buffer(1)
    libc.getentropy(noise, 1)
    return x * (1 + noise.raw[0] / 256)

library.impl("scale", scale, "CPU")
""", "torch.ops.noisy.scale(x)").replace("square().mean()", "square().mean()  # fault"),
}  # fmt: skip

CLEAN: Final[dict[str, str]] = {
    "plain": _train(""),
    "meters": _train("""
import numpy as np
losses = np.zeros(4)
window = torch.zeros(4)
window[0] = time.time() % 7
"""),
    "seeded_python": _train("""
import random
random.seed(1)
extra = torch.tensor([[random.random() for _ in range(4)] for _ in range(8)])
""", "x + extra"),
    "seeded_numpy": _train("""
import numpy as np
np.random.seed(1)
extra = torch.from_numpy(np.random.rand(8, 4).astype("float32"))
""", "x + extra"),
    "seeded_generator": _train("""
import numpy as np
rng = np.random.default_rng(3)
extra = torch.from_numpy(rng.normal(size=(8, 4)).astype("float32"))
""", "x + extra"),
    "run_folder": _train("""
import os, tempfile
folder = tempfile.mkdtemp(prefix=run_id)
with open(os.path.join(folder, "log.txt"), "w") as file:
    file.write(f"{os.getpid()} {time.time()}")
"""),
    "sorted_listing": _train("""
import os
names = sorted(os.listdir(os.path.dirname(os.__file__)))
"""),
    "sorted_set": _train("""
words = sorted({f"word{i}" for i in range(32)})
seen = {word for word in words if word in {"word1", "word2"}}
"""),
    "empty_written": _train("""
whole = torch.empty(8, 4)
whole.copy_(torch.linspace(0, 1, 32).view(8, 4))
rest = torch.empty(3, 3)
""", "x + whole"),
    "dropout": _train("drop = nn.Dropout(0.5)\n", "drop(x)"),
    "shuffled_loader": _load("", loader="Data(), batch_size=4, shuffle=True"),
    "workers": _load("", "row + torch.rand(4)", "Data(), batch_size=4, shuffle=True, num_workers=2"),
    "split": _load("", loader="torch.utils.data.random_split(Data(), [8, 8])[0], batch_size=4"),
    "threads": _train("""
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as pool:
    parts = list(pool.map(float, range(8)))
    done = [future.result() for future in as_completed([pool.submit(float, i) for i in range(8)])]
""", "x + torch.tensor(parts).view(8, 1) / 8"),
    "random_name": _train("""
import random
name = f"run-{random.random()}"
label = torch.tensor(random.random())
"""),
}  # fmt: skip
"""Programs whose losses repeat."""
