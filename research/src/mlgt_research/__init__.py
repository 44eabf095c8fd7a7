"""The evidence for mlgt: the paper's tables and figures, comparisons with other systems, baselines."""
