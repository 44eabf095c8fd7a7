"""Are two models the same to the last bit?"""

from mlgt.model.format import to_arrays


def same(one, other):
    one, other = to_arrays(one.model_), to_arrays(other.model_)
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)
