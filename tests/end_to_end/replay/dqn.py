"""Q-learning in a corridor, with a memory of what happened."""
import argparse
import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward following done")


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *values):
        self.memory.append(Transition(*values))

    def sample(self, count):
        return random.sample(self.memory, count)

    def __len__(self):
        return len(self.memory)


class Corridor:
    def __init__(self, length=8, slip=0.2):
        self.length, self.slip, self.place = length, slip, 0

    def reset(self):
        self.place = np.random.randint(0, self.length - 1)
        return self.state()

    def state(self):
        return np.eye(self.length, dtype=np.float32)[self.place]

    def step(self, action):
        if np.random.rand() < self.slip:
            action = 1 - action
        self.place = min(max(self.place + (1 if action else -1), 0), self.length - 1)
        done = self.place == self.length - 1
        return self.state(), float(done), done


class Agent:
    def __init__(self, states, epsilon):
        self.epsilon = epsilon
        self.net = nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, 2))
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=0.01)

    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return self.net(torch.from_numpy(state)).argmax().item()

    def learn(self, batch):
        states = torch.from_numpy(np.stack([t.state for t in batch]))
        following = torch.from_numpy(np.stack([t.following for t in batch]))
        reward = torch.tensor([t.reward for t in batch])
        left = torch.tensor([0.0 if t.done else 0.9 for t in batch])
        with torch.no_grad():
            wanted = reward + left * self.net(following).max(1).values
        values = self.net(states).gather(1, torch.tensor([[t.action] for t in batch])).squeeze(1)
        loss = nn.functional.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def run(episodes, batch_size):
    env, memory = Corridor(), ReplayMemory(200)
    agent = Agent(env.length, epsilon=0.3)
    for episode in range(episodes):
        state, losses = env.reset(), []
        for _ in range(12):
            action = agent.act(state)
            following, reward, done = env.step(action)
            memory.push(state, action, reward, following, done)
            state = following
            if len(memory) >= batch_size:
                losses.append(agent.learn(memory.sample(batch_size)))
            if done:
                break
        print(episode, losses)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=8)
    options = parser.parse_args()
    run(options.episodes, options.batch_size)
