"""Parameters and data -> a `FittedModel`: settings without "auto", the cost of training, and its stages."""
