"""What tests of radar physics share."""

from decimal import Decimal

import pytest


def _printed(text):
    return pytest.approx(float(text), rel=1e-12, abs=0.5 * 10.0 ** Decimal(text).as_tuple().exponent)


@pytest.fixture(scope="session")
def printed():
    """Equality with a number as printed: `value == printed("0.0415")` holds to the last digit shown."""
    return _printed
