"""Common helpers that know nothing of labels or models."""
