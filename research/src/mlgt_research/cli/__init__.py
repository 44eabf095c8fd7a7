"""The verbs that mlgt-research adds to the command `mlgt`."""
