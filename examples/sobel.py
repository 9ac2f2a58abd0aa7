"""Edges of a grey image by the Sobel operator."""

import numpy as np


def sobel(image):
    """Return the gradient magnitude of `image`; its one-pixel border is zero."""
    magnitude = np.zeros_like(image)
    # horizontal change: right column minus left column
    gx = (
        (image[:-2, 2:] - image[:-2, :-2])
        + 2 * (image[1:-1, 2:] - image[1:-1, :-2])
        + (image[2:, 2:] - image[2:, :-2])
    )
    # vertical change: lower row minus upper row
    gy = (
        (image[2:, :-2] - image[:-2, :-2])
        + 2 * (image[2:, 1:-1] - image[:-2, 1:-1])
        + (image[2:, 2:] - image[:-2, 2:])
    )
    magnitude[1:-1, 1:-1] = np.sqrt(gx**2 + gy**2)
    return magnitude
