"""Calls that stay NumPy's, on the host, between the kernels around them."""

from tests.numpy_names.case import COMPLEX, REAL, Row

HOST = "it stays NumPy's call, on the host"
CUPY = "it stays NumPy's call, on the host, or CuPy's with `--library cupy`"


def host(*cases: str, **options: object) -> Row:
    """A call that NumPy makes."""
    return Row(*cases, status="host", why=HOST, **{"tolerance": 1e4, "special": "", **options})


def library(*cases: str, **options: object) -> Row:
    """A call that NumPy or CuPy makes."""
    return Row(*cases, status="library", why=CUPY, **{"tolerance": 1e4, "special": "", **options})


ROWS: dict[str, Row] = {
    "numpy.linalg.pinv": library("np.linalg.pinv(A) * 2", least=1),
    "numpy.linalg.eigvalsh": library("np.linalg.eigvalsh(S + S.T) * 2"),
    "numpy.linalg.eigh": library("x, y = np.linalg.eigh(S + S.T)\nreturn x * 2"),
    "numpy.linalg.svd": library("x = np.linalg.svd(A)\nreturn x[1] * 2", least=1),
    "numpy.linalg.qr": library("x, y = np.linalg.qr(A)\nreturn y * 2", least=1),
    "numpy.linalg.lstsq": library("x = np.linalg.lstsq(A, v)\nreturn x[0] * 2", least=30),
    "numpy.fft.fft": library("np.fft.fft(v) * 2", least=1, dtypes=f"{REAL} {COMPLEX}"),
    "numpy.fft.ifft": library("np.fft.ifft(v) * 2", least=1, dtypes=f"{REAL} {COMPLEX}"),
    "numpy.fft.rfft": library("np.fft.rfft(v) * 2", least=1),
    "numpy.fft.irfft": library("np.fft.irfft(v) * 2", least=2, dtypes=COMPLEX),
    "numpy.fft.fft2": library("np.fft.fft2(A) * 2", least=1),
    "numpy.fft.ifft2": library("np.fft.ifft2(A) * 2", least=1),
    "numpy.fft.fftn": library("np.fft.fftn(C) * 2", least=1),
    "numpy.fft.ifftn": library("np.fft.ifftn(C) * 2", least=1),
    "numpy.sort": library("np.sort(v) * 2", "np.sort(A, axis=0) * 2", dtypes=f"i4 {REAL}"),
    "numpy.argsort": library("np.argsort(v) * 2", dtypes=f"i4 {REAL}", domain="pos", least=1),
    "ndarray.sort": library("x = v * 2\nx.sort()\nreturn x + 1", dtypes=f"i4 {REAL}"),
    "ndarray.argsort": library("v.argsort() * 2", dtypes=REAL),
    "numpy.median": host("np.median(v) + v", "np.median(A, axis=0) + r", least=1),
    "numpy.nanmedian": host("np.nanmedian(v) + v", "np.nanmedian(A, axis=0) + r", least=1),
    "numpy.nanpercentile": host("np.nanpercentile(v, 30) + v", least=1),
    "numpy.nanquantile": host("np.nanquantile(v, 0.3) + v", least=1),
    "numpy.percentile": host("np.percentile(v, 30) + v", least=1),
    "numpy.quantile": host("np.quantile(v, 0.3) + v", least=1),
    "numpy.polyfit": host("np.polyfit(v, w, 1) * 2", least=3, dtypes="f8"),
}
