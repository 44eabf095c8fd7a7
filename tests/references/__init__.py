"""Plain NumPy reference implementations of compiled kernels, with the same names and signatures.

Read these first; the tests run kernel and reference on the same inputs. `pythonpath` in pyproject.toml
makes this folder importable.
"""
