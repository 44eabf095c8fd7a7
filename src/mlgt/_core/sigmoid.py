"""Log-odds and probabilities.

Arrays of float32 are computed by one compiled pass. Other kernels call the same functions of one number, so
that a row has the same bits however it is computed. `exp_of_minus` and `log_1_plus` take arrays as well.
"""

from typing import Any

import numpy as np

from ..compile.kernels import MANY, helper, kernel

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.44269504), _f(0.693359375), _f(-2.12194440e-4)
_ZERO, _HALF, _ONE, _TWO = _f(0.0), _f(0.5), _f(1.0), _f(2.0)
_3RD, _5TH, _7TH, _9TH, _11TH, _13TH, _15TH = (_f(1 / i) for i in range(3, 17, 2))
_E2, _E3, _E4 = _f(5.0000001201e-1), _f(1.6666665459e-1), _f(4.1665795894e-2)
_E5, _E6, _E7 = _f(8.3334519073e-3), _f(1.3981999507e-3), _f(1.9875691500e-4)
_BIAS, _MANTISSA_BITS = np.int32(127), np.int32(23)
"""Numbers that are made once: compiling a call that makes one takes some milliseconds."""
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
    return (x if x < _ZERO else _ZERO) - log_1_plus(t)


@helper(error_model="numpy")
def log_1_plus(t: Any) -> Any:
    """log(1 + t) of float32 from 0 to 1: 2 artanh(s), s = t / (2 + t)."""
    s = t / (_TWO + t)
    z = s * s
    q = (_15TH * z + _13TH) * z + _11TH
    q = ((q * z + _9TH) * z + _7TH) * z + _5TH
    q = q * z + _3RD
    return _TWO * (s + s * z * q)


@helper(error_model="numpy")
def sigmoid_of(x: Any) -> Any:
    """1 / (1 + exp(-x)) of a float32."""
    size = abs(x)
    t = exp_of_minus(size if size < MAX_SIZE else MAX_SIZE)
    return (_ONE if x >= _ZERO else t) / (_ONE + t)


@helper(error_model="numpy")
def exp_of_minus(a: Any) -> Any:
    """exp(-a) of float32 from 0 to MAX_SIZE: 2^n exp(r), |r| <= ln(2) / 2, with the polynomial of Cephes'
    expf."""
    n = np.floor(_HALF - a * _LOG2_E)
    r = (-a - n * _LN2_HIGH) - n * _LN2_LOW
    q = (_E7 * r + _E6) * r + _E5
    q = ((q * r + _E4) * r + _E3) * r + _E2
    power = np.int32((np.int32(n) + _BIAS) << _MANTISSA_BITS).view(np.float32)
    return (q * r * r + r + _ONE) * power
