"""Secrets at rest."""

from __future__ import annotations

import pytest

from detent.sealing import Sealed, SealError, keyring, new_key

SECRET = b"canary-7f3a"


@pytest.fixture
def key():
    return new_key()


# R-TARGET-2
def test_what_is_sealed_opens_for_its_owner_alone(key):
    ring = keyring(key)
    sealed = ring.seal(SECRET, "1/value/token")
    assert ring.open(sealed, "1/value/token") == SECRET
    assert SECRET not in sealed.data
    assert ring.seal(SECRET, "1/value/token").data != sealed.data, "the same secret looks different each time"
    for other in ("2/value/token", "1/signing/token", "1/value/tokens"):
        with pytest.raises(SealError, match="belongs to somebody else"):
            ring.open(sealed, other)


@pytest.mark.parametrize("at", [0, 20, 70, -1])
def test_what_was_changed_does_not_open(key, at):
    ring = keyring(key)
    sealed = ring.seal(SECRET, "1")
    changed = bytearray(sealed.data)
    changed[at] ^= 1
    with pytest.raises(SealError, match="was changed"):
        ring.open(Sealed(sealed.key_id, bytes(changed)), "1")


def test_a_key_is_changed_by_putting_the_new_one_in_front(key):
    sealed = keyring(key).seal(SECRET, "1")
    new = new_key()
    both = keyring(f"{new}, {key}")
    assert both.open(sealed, "1") == SECRET
    anew = both.rewrap(sealed, "1")
    assert anew.key_id != sealed.key_id
    assert anew.data[60:] == sealed.data[60:], "the secret itself was not touched"
    assert keyring(new).open(anew, "1") == SECRET
    with pytest.raises(SealError, match="add that key"):
        keyring(new).open(sealed, "1")


@pytest.mark.parametrize("setting", ["", "short", "%%%", "a" * 43, f"{'A' * 43}=,x"])
def test_what_is_no_key_is_refused_without_repeating_it(setting):
    with pytest.raises(SealError, match="holds the base64 of 32 bytes") as refused:
        keyring(setting)
    assert not setting or setting not in refused.value.message


def test_a_key_does_not_show_itself(key):
    assert key not in repr(keyring(key))
