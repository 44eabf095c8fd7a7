"""The methods by name: one table for Python and the command line."""

import argparse

import pytest

import mlgt.estimators
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier
from mlgt.cli import train
from mlgt.estimators import make_estimator
from mlgt.estimators.methods import METHODS


def test_the_command_line_has_the_same_methods():
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    (method,) = [action for action in parser._actions if "--method" in action.option_strings]
    assert list(method.choices) == list(METHODS)
    assert mlgt.estimators.METHODS is METHODS


@pytest.mark.parametrize("method", METHODS)
def test_an_estimator_has_the_parameters_of_its_method(method):
    estimator = make_estimator(method)
    assert METHODS[method].items() <= estimator.get_params(deep=False).items()
    assert type(estimator) is (HierarchicalMLGTClassifier if method == "he-nmfgt" else MLGTClassifier)


def test_he_nmfgt_weights_the_votes_of_blocks():
    assert make_estimator("he-nmfgt").combination == "weighted"


def test_given_parameters_override_those_of_the_method():
    estimator = make_estimator("he-nmfgt", n_blocks=2, combination="sum", n_groups=9)
    assert (estimator.n_blocks, estimator.combination, estimator.n_groups) == (2, "sum", 9)
    assert isinstance(make_estimator(n_blocks=3), HierarchicalMLGTClassifier)
