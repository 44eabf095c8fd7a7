"""numba as mlgt uses it: kernels, what runs in their place, and what the first run says."""
