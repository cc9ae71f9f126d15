"""Settings: where each value comes from, and what is refused with the right word."""

from __future__ import annotations

import pytest

from detent.settings import SettingsError, find, from_environment, masked

URL = {"DETENT_DATABASE_URL": "postgresql://localhost/shop"}


def test_an_option_goes_before_the_environment_and_that_before_the_default():
    found = find(URL | {"DETENT_LEASE_TTL": "4", "OTHER": "x"}, database_url="postgresql://other")
    assert (found["database_url"].value, found["database_url"].origin) == (
        "postgresql://other",
        "--database-url",
    )
    assert (found["lease_ttl"].value, found["lease_ttl"].origin) == (4.0, "DETENT_LEASE_TTL")
    assert (found["poll"].value, found["poll"].origin) == (0.1, "default")


def test_a_switch_is_turned_off_as_well_as_on():
    """0 was taken for a number that isn't positive."""
    off = from_environment(URL | {"DETENT_LISTEN": "0", "DETENT_POOLER": "no"})
    on = from_environment(URL | {"DETENT_LISTEN": "1", "DETENT_POOLER": "TRUE"})
    assert [(one.listen, one.pooler) for one in (off, on)] == [(False, False), (True, True)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("DETENT_LEASETTL", "4", "DETENT_LEASETTL is no setting: did you mean DETENT_LEASE_TTL?"),
        ("DETENT_ZZZZZZZZZZZZ", "4", "DETENT_ZZZZZZZZZZZZ is no setting: known are DETENT_CLAIM_AHEAD, "),
        ("DETENT_LEASE_TTL", "soon", 'DETENT_LEASE_TTL is "soon", which is no float'),
        ("DETENT_LEASE_TTL", "-1", "DETENT_LEASE_TTL must be a positive number"),
        ("DETENT_LEASE_TTL", "nan", "DETENT_LEASE_TTL must be a positive number"),
        ("DETENT_LEASE_TTL", "0.2", "DETENT_LEASE_TTL is at least 1"),
        ("DETENT_POOLER", "maybe", 'DETENT_POOLER is "maybe", which is no bool: write 1 or 0 or true'),
        ("DETENT_RETENTION_DAYS", "1.5", 'DETENT_RETENTION_DAYS is "1.5", which is no int'),
    ],
)
def test_what_has_no_sense_is_refused(name, text, message):
    with pytest.raises(SettingsError) as refused:
        from_environment(URL | {name: text})
    assert refused.value.message.startswith(message)


def test_without_a_database_it_says_what_to_do():
    with pytest.raises(SettingsError, match="set DETENT_DATABASE_URL, or use `detent dev`"):
        from_environment({})


def test_passwords_are_masked():
    assert masked("postgresql://ada:s3cret@db/shop") == "postgresql://ada:***@db/shop"
    assert (
        masked("postgresql://db/shop?user=ada&password=s3cret&x=1")
        == "postgresql://db/shop?user=ada&password=***&x=1"
    )
    assert masked(4) == 4
