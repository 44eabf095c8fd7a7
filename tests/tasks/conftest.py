import pytest
from tests.conftest import topic_data


@pytest.fixture(scope="module")
def rows():
    return topic_data(n=1100, p=60, d=30)
