"""The extreme weights of two Gaussian kernels over eight keys, in double precision."""

import numpy as np
from draws import gaussian_weights

KEYS = np.array([0, 0.5, 1, 1.5, 2, 5, 8, 10])


def expected(framework):
    if framework is None:
        return {}
    queries = np.arange(41) / 4
    narrow, wide = (gaussian_weights(queries, KEYS, bandwidth) for bandwidth in (0.3, 6.0))
    return {
        "weights/largest_wide": wide.max(),
        "weights/smallest_wide": wide.min(),
        "weights/largest_narrow": narrow.max(),
    }
