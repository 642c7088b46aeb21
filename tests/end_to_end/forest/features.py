import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA


def load(components):
    """Half of the digits, as principal components."""
    digits = load_digits()
    chosen = np.random.choice(len(digits.target), len(digits.target) // 2, replace=False)
    x, y = digits.data[chosen], digits.target[chosen]
    return PCA(n_components=components, svd_solver="randomized").fit_transform(x), y
