"""Whether programs of many kinds print the same twice under `detlint run`.

    python benchmarks/kinds.py [NAME]...

Each is small, and unseeded but where it says otherwise. What isn't installed is left out. A line with seconds in it isn't compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

KINDS: Final[dict[str, str]] = {
    "vae": """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(1)
e, d = (nn.Linear(16, 8), nn.Linear(4, 16))
o = torch.optim.Adam([*e.parameters(), *d.parameters()], 0.001)
data = torch.utils.data.DataLoader(torch.rand(64, 16), batch_size=8, shuffle=True)
for x in data:
    m, s = e(x).chunk(2, 1)
    z = m + torch.randn_like(s) * (s / 2).exp()
    l = F.mse_loss(d(z), x)
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "gan": """
import random
import torch
from torch import nn
seed = random.randint(1, 10000)
random.seed(seed)
torch.manual_seed(seed)
print(seed)
g, d = (nn.Linear(4, 8), nn.Linear(8, 1))
og, od = (torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters()))
for _ in range(3):
    r = torch.rand(8, 8)
    f = g(torch.randn(8, 4))
    l = d(f.detach()).mean() - d(r).mean()
    od.zero_grad()
    l.backward()
    od.step()
    k = -d(f).mean()
    og.zero_grad()
    k.backward()
    og.step()
    print(l.item(), k.item())
""",
    "lm": """
import torch
from torch import nn
net = nn.TransformerEncoderLayer(16, 2, 32, 0.2, batch_first=True)
e = nn.Embedding(50, 16)
h = nn.Linear(16, 50)
o = torch.optim.AdamW([*net.parameters(), *e.parameters(), *h.parameters()])
for _ in range(3):
    x = torch.randint(0, 50, (4, 12))
    l = nn.functional.cross_entropy(h(net(e(x))).flatten(0, 1), x.flatten())
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "workers": """
import random
import torch, numpy as np

class D(torch.utils.data.Dataset):

    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.tensor([i + random.random(), np.random.rand(), np.random.default_rng().random(), torch.rand(1).item()])
for b in torch.utils.data.DataLoader(D(), batch_size=8, shuffle=True, num_workers=2):
    print(b.sum().item(), b[0].tolist())
""",
    "lightning": """
import lightning as L, torch

class M(L.LightningModule):

    def __init__(self):
        super().__init__()
        self.n = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))

    def training_step(self, b, i):
        l = self.n(b).square().mean()
        print(l.item())
        return l

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
loader = torch.utils.data.DataLoader(torch.rand(32, 4), batch_size=8, shuffle=True)
L.Trainer(max_epochs=1, accelerator='cpu', **quiet).fit(M(), loader)
""",
    "transformers": """
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=60)
m = BertForSequenceClassification(BertConfig(**sizes))
data = [{'input_ids': torch.randint(0, 60, (8,)), 'labels': i % 2} for i in range(16)]
quiet = dict(report_to=[], logging_steps=1, use_cpu=True, save_strategy='no', disable_tqdm=True)
t = Trainer(m, TrainingArguments('out', max_steps=3, per_device_train_batch_size=4, **quiet), train_dataset=data)
print(t.train().training_loss)
""",
    "keras": """
import keras, numpy as np
m = keras.Sequential([keras.layers.Dense(8, activation='relu'), keras.layers.Dropout(0.3), keras.layers.Dense(1)])
m.compile('adam', 'mse')
print(m.fit(np.random.rand(64, 4), np.random.rand(64, 1), epochs=2, verbose=0).history)
""",
    "tensorflow": """
import tensorflow as tf
w = tf.Variable(tf.random.normal((4, 1)))
o = tf.keras.optimizers.SGD(0.1)
for x in tf.data.Dataset.from_tensor_slices(tf.random.uniform((32, 4))).shuffle(32).batch(8):
    with tf.GradientTape() as t:
        l = tf.reduce_mean(tf.nn.dropout(x @ w, 0.3) ** 2)
    o.apply_gradients([(t.gradient(l, w), w)])
    print(l.numpy())
""",
    "mindspore": """
import mindspore as ms, numpy as np
from mindspore import nn
n = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.3), nn.Dense(8, 1))
n.set_train()
d = ms.dataset.NumpySlicesDataset((np.random.rand(32, 4).astype('float32'), np.random.rand(32, 1).astype('float32'))).batch(8)
s = nn.TrainOneStepCell(nn.WithLossCell(n, nn.MSELoss()), nn.SGD(n.trainable_params(), 0.1))
for x, y in d.create_tuple_iterator():
    print(s(x, y).asnumpy())
""",
    "scikit-learn": """
from sklearn.neural_network import MLPClassifier
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.ensemble import RandomForestClassifier
X, y = make_classification(120)
a, b, c, d = train_test_split(X, y)
net, forest = MLPClassifier(max_iter=5).fit(a, c), RandomForestClassifier(5).fit(a, c)
print(net.score(b, d), net.loss_, forest.predict_proba(b)[:3])
""",
    "gymnasium": """
import gymnasium, numpy as np
e = gymnasium.make('CartPole-v1')
s, _ = e.reset()
for _ in range(5):
    print(s, e.action_space.sample())
    s, *_ = e.step(e.action_space.sample())
v = gymnasium.make_vec('CartPole-v1', num_envs=2)
print(v.reset()[0], v.action_space.sample())
print(gymnasium.spaces.Box(0, 1, (2,)).sample(), gymnasium.spaces.Discrete(9).sample())
""",
    "stable-baselines3": """
from stable_baselines3 import PPO
m = PPO('MlpPolicy', 'CartPole-v1', n_steps=64, batch_size=32, n_epochs=2, device='cpu')
m.learn(128)
e = m.get_env()
o = e.reset()
for _ in range(5):
    a, _ = m.predict(o)
    o, r, *_ = e.step(a)
    print(o, a)
""",
    "rnn": """
import torch
from torch import nn
n = nn.LSTM(4, 8, 2, dropout=0.5, batch_first=True)
o = torch.optim.RMSprop(n.parameters())
for _ in range(3):
    l = n(torch.rand(4, 6, 4))[0].square().mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "ddp": """
import os

def rank(r, n):
    import torch, torch.distributed as dist
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29611')
    dist.init_process_group('gloo', rank=r, world_size=n)
    m = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    o = torch.optim.SGD(m.parameters(), 0.1)
    for _ in range(3):
        l = m(torch.rand(8, 4)).square().mean()
        o.zero_grad()
        l.backward()
        o.step()
    if r == 0:
        print([p.tolist() for p in m.parameters()])
    del m
    dist.destroy_process_group()

if __name__ == '__main__':
    import torch, torch.distributed as dist, torch.multiprocessing as mp
    mp.spawn(rank, (2,), 2)
""",
    "compile": """
import torch
from torch import nn
n = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)))
o = torch.optim.SGD(n.parameters(), 0.1)
for _ in range(3):
    l = n(torch.rand(8, 4)).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "diffusion": """
import torch
from torch import nn
n = nn.Conv2d(1, 1, 3, padding=1)
o = torch.optim.AdamW(n.parameters())
g = torch.Generator().manual_seed(3)
for _ in range(3):
    x = torch.rand(4, 1, 8, 8, generator=g)
    t = torch.randint(0, 100, (4,))
    e = torch.randn_like(x)
    l = (n(x + e * (t / 100).view(-1, 1, 1, 1)) - e).square().mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "triplet": """
import random
import torch, numpy as np
from torch import nn
n = nn.Linear(4, 2)
o = torch.optim.SGD(n.parameters(), 0.1)
X = np.random.rand(30, 4).astype('float32')
for _ in range(3):
    a, p, q = (torch.from_numpy(X[[random.choice(range(30)) for _ in range(4)]]) for _ in range(3))
    l = nn.functional.triplet_margin_loss(n(a), n(p), n(q))
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
""",
    "splits": """
from sklearn.model_selection import KFold
import torch
for a, b in KFold(3, shuffle=True).split(range(9)):
    print(a, b)
print([s.indices for s in torch.utils.data.random_split(range(9), [6, 3])], [*torch.utils.data.WeightedRandomSampler([1, 2, 3.0], 5)])
""",
}  # fmt: skip


def printed(name: str, text: str, number: int) -> str | None:
    """What a program prints under `detlint run`; None where something that it imports isn't there."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text)
        command = [sys.executable, "-m", "detlint", "run", "--quiet", "train.py"]
        environment = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_v": "3", **os.environ}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        return None
    assert done.returncode == 0, f"{name}, run {number}: {done.stderr[-500:]}"
    return "\n".join(line for line in done.stdout.splitlines() if not re.search("runtime|per_second", line))


def main(names: list[str]) -> None:
    """Run all, or those that are named."""
    same = tried = 0
    for name, text in KINDS.items():
        if names and name not in names:
            continue
        one, two = (printed(name, text, number) for number in (1, 2))
        if one is None:
            print(f"{name}: not installed", flush=True)
            continue
        tried, same = tried + 1, same + (one == two and bool(one))
        print(f"{name}: {'repeats' if one == two else 'DIFFERS'}, {len(one.splitlines())} lines", flush=True)
    print(f"{same} of {tried} repeat")


if __name__ == "__main__":
    main(sys.argv[1:])
