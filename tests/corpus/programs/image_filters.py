"""Images as 2-D and 3-D arrays."""

import numpy as np


def box_blur(img):
    out = img.copy()
    out[1:-1, 1:-1] = (
        img[:-2, :-2] + img[:-2, 1:-1] + img[:-2, 2:]
        + img[1:-1, :-2] + img[1:-1, 1:-1] + img[1:-1, 2:]
        + img[2:, :-2] + img[2:, 1:-1] + img[2:, 2:]
    ) / 9  # fmt: skip
    return out


def box_blur_loops(img):
    h, w = img.shape
    out = np.zeros((h, w))
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            s = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    s += img[y + dy, x + dx]
            out[y, x] = s / 9.0
    return out


def convolve2d(img, kernel):
    """Any small kernel; the border stays zero."""
    h, w = img.shape
    kh, kw = kernel.shape
    ph = kh // 2
    pw = kw // 2
    out = np.zeros_like(img)
    for i in range(ph, h - ph):
        for j in range(pw, w - pw):
            acc = 0.0
            for a in range(kh):
                for b in range(kw):
                    acc += kernel[a, b] * img[i - ph + a, j - pw + b]
            out[i, j] = acc
    return out


def convolve_shifted(img, k):
    """Slices shifted in a loop whose trip count is fixed."""
    h, w = img.shape
    out = np.zeros((h - 2, w - 2))
    for a in range(3):
        for b in range(3):
            out += k[a, b] * img[a : a + h - 2, b : b + w - 2]
    return out


def roberts(img):
    gx = img[:-1, :-1] - img[1:, 1:]
    gy = img[:-1, 1:] - img[1:, :-1]
    return np.hypot(gx, gy)


def prewitt_abs(img):
    out = np.zeros_like(img)
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            gx = 0.0
            gy = 0.0
            for d in range(-1, 2):
                gx += img[i + d, j + 1] - img[i + d, j - 1]
                gy += img[i + 1, j + d] - img[i - 1, j + d]
            out[i, j] = abs(gx) + abs(gy)
    return out


def sharpen(img, amount):
    blurred = 0.25 * (
        np.roll(img, 1, axis=0) + np.roll(img, -1, axis=0)
        + np.roll(img, 1, axis=1) + np.roll(img, -1, axis=1)
    )  # fmt: skip
    return np.clip(img + amount * (img - blurred), 0, 1)


def luminance(rgb):
    return 0.2126 * rgb[..., 0] + 0.7152 * rgb[..., 1] + 0.0722 * rgb[..., 2]


def grey_weights(rgb, weights):
    return (rgb * weights).sum(axis=-1)


def flip_vertical(img):
    return img[::-1]


def flip_both(img):
    return img[::-1, ::-1].copy()


def rotate90(img):
    return img.T[::-1]


def crop_center(img, r):
    h, w = img.shape
    cy, cx = h // 2, w // 2
    return img[cy - r : cy + r, cx - r : cx + r] * 1.0


def dilate(img):
    out = img.copy()
    out[1:, :] = np.maximum(out[1:, :], img[:-1, :])
    out[:-1, :] = np.maximum(out[:-1, :], img[1:, :])
    out[:, 1:] = np.maximum(out[:, 1:], img[:, :-1])
    out[:, :-1] = np.maximum(out[:, :-1], img[:, 1:])
    return out


def binarize(img, level):
    return np.where(img > level, 255, 0).astype(np.uint8)


def gamma_correct(img, gamma):
    return 255 * (img / 255.0) ** gamma


def max_pool(img):
    a = np.maximum(img[::2, ::2], img[1::2, ::2])
    b = np.maximum(img[::2, 1::2], img[1::2, 1::2])
    return np.maximum(a, b)


def normalize_image(img):
    lo = img.min()
    hi = img.max()
    return (img - lo) / (hi - lo)


def blend(a, b, alpha):
    """Alpha channel broadcast over the colours."""
    return alpha[:, :, None] * a + (1 - alpha[:, :, None]) * b


def vignette(img, strength):
    h, w = img.shape
    y = np.linspace(-1, 1, h)[:, None]
    x = np.linspace(-1, 1, w)[None, :]
    return img * (1 - strength * (x**2 + y**2))
