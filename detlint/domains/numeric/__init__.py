"""Numeric: what sums exactly in any order, since it is whole numbers, masks, one-hot, all different, or no more than two of them."""
