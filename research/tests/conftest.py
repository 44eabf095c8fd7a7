"""Fixtures, those of the product's tests."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

spec = spec_from_file_location("product_fixtures", Path(__file__).parents[2] / "tests" / "conftest.py")
product = module_from_spec(spec)
spec.loader.exec_module(product)
rng, topics = product.rng, product.topics
