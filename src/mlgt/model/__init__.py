"""A fitted model: what it answers, why, how it grows, and its folder."""
