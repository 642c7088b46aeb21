import torch
from torch.utils.data import Dataset

SAMPLES = [
    ("sit on the mat", "cat"), ("purr at night", "cat"), ("bark at the post", "dog"), ("fetch the ball", "dog"),
    ("sing at dawn", "bird"), ("fly to the south", "bird"), ("swim in the bowl", "fish"), ("swim to the south", "fish"),
    ("sit on the post", "bird"), ("fetch the post", "dog"), ("sit at night", "cat"), ("bowl in the night", "fish"),
]


class Sentences(Dataset):
    """Bags of words, with the animal that each is about."""

    def __init__(self, samples=SAMPLES):
        self.samples = samples
        self.classes = {label.strip() for _, label in samples}
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.vocabulary = {}
        for word in {word for text, _ in samples for word in text.split()}:
            self.vocabulary[word] = len(self.vocabulary)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        text, label = self.samples[index]
        bag = torch.zeros(len(self.vocabulary))
        for word in text.split():
            bag[self.vocabulary[word]] += 1
        return bag, self.class_to_idx[label]
