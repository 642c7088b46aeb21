"""The words of a text, as numbers."""
import torch

TEXT = """
the quick brown fox jumps over the lazy dog while the lazy dog dreams of a quick brown fox that
jumps over every other dog in the yard and the yard is full of foxes and dogs that jump and dream
"""


class Corpus:
    def __init__(self, text=TEXT):
        words = text.split()
        self.vocabulary = list(set(words))
        self.index = {word: i for i, word in enumerate(self.vocabulary)}
        self.data = torch.tensor([self.index[word] for word in words])

    def batches(self, length):
        for start in range(0, len(self.data) - length - 1, length):
            yield self.data[start : start + length], self.data[start + 1 : start + length + 1]
