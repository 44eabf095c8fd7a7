"""A trained model and new rows -> a model that knows them too, and what that did to it (ours)."""
