"""Kernels of a project's own, in Python (Triton, Numba, Pallas, TileLang, ...), in C++ and CUDA, and in texts: what adds floating-point
numbers, to which place, by how many threads, and by what Python comes there.
"""
