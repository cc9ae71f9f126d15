"""What a receiver believes, and what not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from standardwebhooks import Webhook

from detent.receiver import Receiver, Rejected
from tests.receiver.conftest import NEW_WHSEC, WHSEC, delivery
from tests.targets.http.conftest import SECRET, SLOT


def rejected(headers, body, *, secrets=WHSEC, **given):
    with pytest.raises(Rejected) as refused:
        Receiver(secrets, **given).read(headers, body)
    return refused.value.status, refused.value.reason


# R-TARGET-2
def test_a_delivery_says_all_that_there_is_to_know():
    headers, body = delivery(
        {"team": "ops"}, attempt=3, fencing_token=99, catch_up=True, callback="https://d/c/x"
    )
    read = Receiver(WHSEC).read(headers, body)
    assert (read.key, read.token, read.attempt, read.catch_up) == (headers["webhook-id"], 99, 3, True)
    assert (read.schedule, read.scheduled_for, read.callback) == ("nächtlich", SLOT, "https://d/c/x")
    assert read.json() == {"team": "ops"}


# R-TARGET-2
def test_one_of_several_secrets_is_enough_on_either_side():
    headers, body = delivery(secrets=(b"n" * 32, SECRET))
    for secrets in (WHSEC, NEW_WHSEC, [WHSEC, NEW_WHSEC]):
        Receiver(secrets).read(headers, body)
    headers, body = delivery()
    Receiver([NEW_WHSEC, WHSEC]).read(headers, body)
    assert rejected(headers, body, secrets=NEW_WHSEC) == (401, "its signature is by none of our secrets")


# R-TARGET-2
@pytest.mark.parametrize(
    ("ago", "believed"), [(0, True), (290, True), (-290, True), (310, False), (-310, False)]
)
def test_a_signature_has_its_time(ago, believed):
    headers, body = delivery(ago=ago)
    if believed:
        Receiver(WHSEC).read(headers, body)
    else:
        assert "too old" in rejected(headers, body)[1]
    Receiver(WHSEC, tolerance=timedelta(hours=1)).read(headers, body)


# R-TARGET-2
@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("webhook-id", "f_other", 401),
        ("webhook-timestamp", "now", 401),
        ("webhook-timestamp", "-1", 401),
        ("webhook-timestamp", "9" * 400, 401),
        ("webhook-timestamp", "١٢٣", 401),
        ("webhook-signature", "v1,", 401),
        ("webhook-signature", "v1," + "A" * 43 + "=", 401),
        ("webhook-signature", "", 401),
        ("webhook-signature", "v1,é", 401),
        ("webhook-signature", "v1,x " * 1_000, 401),
        ("Idempotency-Key", "f_other", 400),
        ("Detent-Fencing-Token", "42", 401),
        ("Detent-Fencing-Token", "-1", 401),
        ("Detent-Attempt", "2", 401),
        ("Detent-Scheduled-For", "2026-03-01T03:00:00Z", 401),
        ("Detent-Catch-Up", "true", 401),
        ("Detent-Schedule", "other", 401),
        ("Detent-Callback", "https://evil/", 401),
        ("Detent-Signature", "", 401),
    ],
)
def test_what_was_changed_on_the_way_is_not_believed(name, value, status):
    headers, body = delivery()
    assert rejected({**headers, name: value}, body)[0] == status


def test_a_changed_body_or_a_missing_header_is_not_believed():
    headers, body = delivery()
    assert rejected(headers, body + b" ")[0] == 401
    earlier = str(int(headers["webhook-timestamp"]) - 1)
    assert rejected({**headers, "webhook-timestamp": earlier}, body)[0] == 401
    for name in headers:
        if name.startswith("webhook-"):
            assert rejected({key: value for key, value in headers.items() if key != name}, body)[0] == 401


def test_a_message_of_somebody_else_who_signs_alike_is_no_firing():
    from datetime import UTC, datetime

    at = datetime.now(UTC)
    signature = Webhook(WHSEC).sign("msg_1", at, "{}")
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature,
    }
    assert rejected(headers, b"{}")[0] == 401


def test_the_signature_of_the_headers_is_none_of_a_message():
    """Or it could be used as one: what is signed there begins as no id does."""
    headers, body = delivery()
    taken = {**headers, "webhook-signature": headers["Detent-Signature"]}
    assert rejected(taken, body)[0] == 401


def test_a_secret_that_is_none_is_refused_at_once():
    with pytest.raises(Exception, match="24 to 64 bytes"):
        Receiver("whsec_short")
