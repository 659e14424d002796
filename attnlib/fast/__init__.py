"""The same pooling in bounded memory, and faster.

`choice` decides which of these does the work:

- `line`: scalar positions, in about O(n + m); `gaussian_line` and `windows`, `compact_line` and
  `ranges`;
- `dense`: Gaussian and dot-product scores in NumPy, a tile at a time, with gradients;
- `torch_stream`: what PyTorch needs for it, gradients and devices;
- `jax_stream`: the same in JAX, under its transformations;
- `sharded`: a database spread over the devices of JAX.

Only NumPy is needed. With threadpoolctl installed, `dense` uses all processors.
"""
