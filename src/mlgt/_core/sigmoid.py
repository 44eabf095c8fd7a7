"""Log-odds and probabilities.

Arrays of float32 are computed by one compiled pass. Other kernels call the same functions of one number, so
that a row has the same bits however it is computed. `exp_of_minus` and `log_1_plus` take arrays as well.
"""

from typing import Any

import numpy as np

from .compile import MANY, helper, kernel

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.44269504), _f(0.693359375), _f(-2.12194440e-4)
MAX_SIZE = _f(87.0)
"""Size from which on exp(-size) is taken as no smaller: a normal float32."""


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probabilities of log-odds; 0 for -inf."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-logits))


def log_sigmoid(x: Any, slope: Any = 1.0) -> np.ndarray:
    """log(1 / (1 + exp(-slope x))), without overflow."""
    if getattr(x, "dtype", None) != np.float32:
        x = slope * x
        return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    out = np.empty(x.shape, np.float32)
    log_sigmoids(x.reshape(-1), _f(slope), out.reshape(-1))
    return out


def _log_sigmoids(x, slope, out):
    """`log_sigmoids` by NumPy."""
    x = slope * x
    out[:] = np.minimum(x, 0) - log_1_plus(exp_of_minus(np.minimum(np.abs(x), MAX_SIZE)))


@kernel(light=_log_sigmoids, limit=MANY, error_model="numpy")
def log_sigmoids(x, slope, out):
    """out = log sigmoid(slope x), all (size,) float32."""
    for i in range(x.shape[0]):
        out[i] = log_sigmoid_of(slope * x[i])


@helper(error_model="numpy")
def log_sigmoid_of(x: Any) -> Any:
    """log sigmoid(x) of a float32."""
    size = abs(x)
    t = exp_of_minus(size if size < MAX_SIZE else MAX_SIZE)
    return (x if x < _f(0.0) else _f(0.0)) - log_1_plus(t)


@helper(error_model="numpy")
def log_1_plus(t: Any) -> Any:
    """log(1 + t) of float32 from 0 to 1: 2 artanh(s), s = t / (2 + t)."""
    s = t / (_f(2.0) + t)
    z = s * s
    q = (_f(1 / 15) * z + _f(1 / 13)) * z + _f(1 / 11)
    q = ((q * z + _f(1 / 9)) * z + _f(1 / 7)) * z + _f(1 / 5)
    q = q * z + _f(1 / 3)
    return _f(2.0) * (s + s * z * q)


@helper(error_model="numpy")
def sigmoid_of(x: Any) -> Any:
    """1 / (1 + exp(-x)) of a float32."""
    size = abs(x)
    t = exp_of_minus(size if size < MAX_SIZE else MAX_SIZE)
    return (_f(1.0) if x >= _f(0.0) else t) / (_f(1.0) + t)


@helper(error_model="numpy")
def exp_of_minus(a: Any) -> Any:
    """exp(-a) of float32 from 0 to MAX_SIZE: 2^n exp(r), |r| <= ln(2) / 2, with the polynomial of Cephes'
    expf."""
    n = np.floor(_f(0.5) - a * _LOG2_E)
    r = (-a - n * _LN2_HIGH) - n * _LN2_LOW
    q = (_f(1.9875691500e-4) * r + _f(1.3981999507e-3)) * r + _f(8.3334519073e-3)
    q = ((q * r + _f(4.1665795894e-2)) * r + _f(1.6666665459e-1)) * r + _f(5.0000001201e-1)
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return (q * r * r + r + _f(1.0)) * power
