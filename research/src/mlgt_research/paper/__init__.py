"""The paper's tables and figures, one module each: `mlgt reproduce NAME`.

A module has a docstring that says what the paper does and what is done here, `PAPER` (where it stands in
the paper), `FULL` and `QUICK` (what is run: every number that is not in the data), `run(config, data)`
which returns tables, `draw(figure, tables)`, and `differs(tables)`: sentences on what differs from the
paper, their figures taken from the tables. To add one, write its file and name it here.
"""

EXPERIMENTS = {
    "datasets": "the statistics of the data sets, computed beside printed",
    "constructions": "Table 1: NMF-GT, CW-GT, SP-GT and one-vs-all",
    "groups": "Figure 2: Pi@k against the number of groups",
    "methods": "Table 2: all its methods, one-vs-all and mlgt, by Pi@k",
    "standard": "Table 3: the same by P@k, with training time and time per row",
    "reordering": "Figure 1: reordered label matrices, and the time it takes",
    "tradeoff": "Figure 3: precision against time, and against the number of blocks",
    "less-data": "Figure 4: P@1 against the share of the training rows",
    "correlation": "Figure 5, left: P@k against Phi",
    "column-weight": "Figure 5, middle: P@k against the groups a label joins",
    "large-m": "Figure 5, right: NMF-GT and CW-GT for many groups",
    "losses": "Table 4: Hamming loss of reduction and of training",
    "theorem": "Theorem 1: the votes b of labels in and outside a row, and m = O(k log d)",
    "decoding": "Proposition 1: what SAFFRON recovers, and in how many operations",
}
"""Name -> what it shows; the module is the name with _ for -."""
