"""A name suggests how many dimensions an array has; an elementwise function takes any number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.modules import loaded
from tests.support.shell import Shell

SHADE = '''import numpy as np


def shade(img, gain, offset=0):
    """Shade an image."""
    return np.clip(img * gain + offset, 0, 255)
'''
DOCUMENTED = '''import numpy as np


def brighter(image, gain):
    """Brighten an image.

    Parameters
    ----------
    image : array
    gain : float
    """
    return image * gain
'''
BODIES = {
    "img, gain": "img *= gain",
    "frame, frame_prev": "return 0.5 * frame + 0.25 * frame_prev",
    "rgb, rgb2": "return np.maximum(rgb, rgb2)",
    "image, t": "image[image > t] = 0.0",
}


def accepted(shell: Shell, text: str) -> str:
    """What the module of a file says that it takes."""
    shell.write("f.py", text)
    assert shell.convert("f.py", "-o", "-") == 0
    return "\n".join(line for line in shell.out.splitlines() if "# porter: accepts" in line)


@pytest.mark.parametrize("parameters", BODIES)
def test_elementwise_functions_take_any_rank(shell: Shell, parameters: str) -> None:
    said = accepted(
        shell, f"import numpy as np\n\n\ndef f({parameters}):\n    {BODIES[parameters]}\n"
    )
    assert said.count("array of any rank") == len(parameters.split())


@pytest.mark.parametrize("text", [SHADE, SHADE.replace("img", "x"), DOCUMENTED])
def test_whatever_the_docstring_says(shell: Shell, text: str) -> None:
    assert accepted(shell, text).count("array of any rank") == 2


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("return img[:, 0] * 2", "float64[:, :]"),
        ("return img.mean(axis=1)", "float64[:, :]"),
        ("return (img - img.min()) / img.max()", "float64[:, :]"),
        ("return img.T * 2.0", "float64[:, :]"),
        ("return img[..., 0] * 2", "float64[:, :, :]"),
    ],
)
def test_others_have_the_rank_of_the_name(shell: Shell, body: str, types: str) -> None:
    shell.write("f.py", f"import numpy as np\n\n\ndef f(img):\n    {body}\n")
    assert shell.convert("f.py", "-o", "-") == 0
    assert f"# porter: function f({types})" in shell.out


def test_the_calls_are_as_numpys(shell: Shell) -> None:
    source = shell.write("shade.py", SHADE)
    assert shell.convert("shade.py", "--target", "loops", "-o", "made.py") == 0
    original, made = loaded(source).shade, loaded(Path(shell.folder / "made.py")).shade
    random = np.random.default_rng(0)
    for shape in ((), (7,), (3, 5), (5, 3, 4), (2, 3, 5, 4), (0, 3), (1, 5)):
        x = np.asarray(random.normal(100.0, 90.0, shape))
        column = x[..., :1] if shape else x
        pictures = (x, x.astype("f4"), np.clip(x, 0, 100).astype("u1"), x.astype("i8"))
        for img in (*pictures, x[::-1] if shape else x):
            for gain in (1.5, 2, np.float64(0.5), np.array(0.5), x / 100, column):
                expected, found = original(img, gain), made(img, gain)
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape), (img, gain)
                np.testing.assert_allclose(found, expected, 1e-6)
