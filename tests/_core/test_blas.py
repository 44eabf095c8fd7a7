"""One thread for BLAS, also if several threads train at the same time."""

from threadpoolctl import threadpool_info, threadpool_limits

from mlgt._core import blas
from mlgt._core.blas import one_blas_thread


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_last_one_inside_lifts_the_limit():
    with threadpool_limits(2, "blas"):
        before = threads()  # none with a BLAS that cannot be limited
        one, other = one_blas_thread(), one_blas_thread()
        one.__enter__()
        other.__enter__()
        assert threads() <= {1}
        one.__exit__(None, None, None)  # the first one is done before the second
        assert threads() <= {1}
        other.__exit__(None, None, None)
        assert threads() == before


def test_libraries_that_cannot_be_listed_are_left_alone(monkeypatch):
    def fail(*_):
        raise OSError("no /proc")

    monkeypatch.setattr(blas, "threadpool_limits", fail)
    with one_blas_thread(), one_blas_thread():
        assert len(blas._inside) == 2
    assert blas._inside == []
