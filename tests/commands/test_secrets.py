"""The secrets of a tenant: made when they are needed, rotated in peace, and never told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from detent.commands.schedules import Actor, NotFound
from detent.commands.secrets import Secrets
from detent.domain.errors import SpecError
from detent.domain.http.signature import parse_secret
from detent.sealing import SealError, new_key
from detent.settings import Settings
from detent.store import schedules
from tests.house import ME

KEY = new_key()
URL = "https://example.com/hook"


@pytest.fixture
async def act(house):
    """The verbs of secrets, and `act.create`, under a key."""

    class Acts:
        settings = Settings(database_url="", secret_key=KEY)

        async def __call__(self, verb, *arguments, key=None, actor=ME, **named):
            async with house.pool.acquire() as connection:
                settings = Settings(database_url="", secret_key=key or KEY)
                verbs = Secrets(connection=connection, settings=settings)
                found = getattr(verbs, verb)
                return await (found() if verb == "rewrap" else found(*arguments, actor, **named))

        async def create(self, **spec):
            house.settings = self.settings
            return await house.create(trigger={"cron": "0 2 * * *"}, **spec)

    return Acts()


# R-TARGET-2
async def test_a_tenant_gets_its_signing_secret_with_its_first_webhook(house, act):
    assert await house.value("select count(*) from detent.secret") == 0
    await act.create(name="a", target={"http": URL})
    await act.create(name="b", target={"http": URL})
    (secret,) = await act("signing")
    assert len(parse_secret(secret)) == 32
    assert await act("signing") == [secret]


# R-TARGET-2
async def test_while_it_is_rotated_two_are_live(house, act):
    (old,) = await act("signing")
    new, retires_at = await act("rotate_signing")
    assert (new != old, retires_at) == (True, house.now + timedelta(days=1))
    assert await act("signing") == [new, old]
    house.turn(timedelta(hours=23))
    assert await act("signing") == [new, old]
    house.turn(timedelta(hours=2))
    assert await act("signing") == [new]


async def test_of_three_the_oldest_is_gone_at_once(act):
    await act("signing")
    second, _ = await act("rotate_signing")
    third, _ = await act("rotate_signing", overlap=timedelta(hours=1))
    assert await act("signing") == [third, second]


async def test_a_secret_that_others_made_can_be_brought_along(act):
    given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert (await act("rotate_signing", secret=given))[0] == given
    assert await act("signing") == [given]
    with pytest.raises(SpecError, match="24 to 64 bytes"):
        await act("rotate_signing", secret="whsec_short")


# R-TARGET-1
async def test_headers_refer_to_secrets_that_exist(house, act):
    target = {"http": {"url": URL, "headers": {"Authorization": "Bearer {{ secret.api_token }}"}}}
    with pytest.raises(SpecError, match='there is no secret "api_token"') as refused:
        await act.create(target=target)
    assert refused.value.field == "target/http/headers"
    await act("put", "api_token", "canary")
    await act.create(target=target)
    await act("put", "api_token", "canary2")
    assert [(one.kind, one.name) for one in await act("names")] == [
        ("signing", "signing"),
        ("value", "api_token"),
    ]
    await act("remove", "api_token")
    with pytest.raises(NotFound):
        await act("remove", "api_token")


async def test_tenants_have_secrets_of_their_own(house, act):
    await house.execute("insert into detent.tenant (name) values ('other')")
    other = Actor(by="bob", tenant="other")
    await act("put", "token", "mine")
    await act("put", "token", "theirs", actor=other)
    assert await act("signing") != await act("signing", actor=other)
    assert await house.value("select count(*) from detent.secret where name = 'token'") == 2


async def test_bulk_asks_for_secrets_too(house, act):
    from detent.commands.bulk import create_many

    specs = [
        {
            "name": f"s{n}",
            "trigger": {"cron": "0 2 * * *"},
            "target": {"http": {"url": URL, "headers": headers}},
        }
        for n, headers in enumerate([{}, {"X": "{{ secret.gone }}"}, {"X": "{{ secret.here }}"}])
    ]
    await act("put", "here", "x")
    async with house.pool.acquire() as connection:
        (refused,) = await create_many(connection, act.settings, specs, ME)
    assert (refused.place, refused.error.code) == (1, "no_secret")
    assert await house.value("select count(*) from detent.schedule") == 2


async def test_without_a_key_webhooks_are_refused_with_what_to_do(house):
    with pytest.raises(SealError, match="set DETENT_SECRET_KEY"):
        await house.create(trigger={"cron": "0 2 * * *"}, target={"http": URL})
    assert await house.value("select count(*) from detent.schedule") == 0


# R-TARGET-2
async def test_nothing_in_the_database_tells_a_secret(house, act):
    await act("put", "token", "canary-7f3a")
    signing = await act("signing")
    rows = str(
        [dict(row) for row in await house.fetch("select *, encode(sealed, 'escape') from detent.secret")]
    )
    assert "canary" not in rows
    assert signing[0].removeprefix("whsec_") not in rows
    assert parse_secret(signing[0]).hex() not in rows


# R-TARGET-2
async def test_the_key_of_all_secrets_is_changed_without_opening_them(house, act):
    (secret,) = await act("signing")
    await act("put", "token", "canary")
    new = new_key()
    with pytest.raises(SealError):
        await act("signing", key=new)
    assert await act("rewrap", key=f"{new},{KEY}") == 2
    assert await act("rewrap", key=f"{new},{KEY}") == 0
    assert await act("signing", key=new) == [secret]


@pytest.mark.parametrize("name", ["", "A", "1a", "a-b", "a.b", "a" * 64, "a\n"])
async def test_names_of_secrets_are_plain(act, name):
    with pytest.raises(SpecError, match="no name of a secret"):
        await act("put", name, "x")


@pytest.mark.parametrize("value", ["", " a", "a\r\nb", "é", "a\0", "x" * 9_000])
async def test_values_of_secrets_fit_into_a_header(act, value):
    with pytest.raises(SpecError, match="visible ASCII"):
        await act("put", "token", value)


# R-TARGET-1
async def test_a_target_that_is_gone_pauses_its_schedule_with_the_reason(house, act):
    from detent.node.pauses import Pauses

    await act.create(name="a", target={"http": URL})
    await act.create(name="b", target={"http": URL})
    ids = dict(await house.fetch("select name, id from detent.schedule"))
    async with house.pool.acquire() as connection:
        await schedules.wish_pauses(
            connection, [(ids["a"], 1, "gone"), (ids["a"], 1, "gone"), (ids["b"], 1, "gone")]
        )
    await house.edit(name="b", trigger={"cron": "0 3 * * *"}, target={"http": "https://example.com/new"})
    await Pauses(house.pool, house.settings, house.events).tick()
    rows = await house.fetch("select name, status, status_reason from detent.schedule order by name")
    assert [tuple(row) for row in rows] == [("a", "paused", "gone"), ("b", "active", None)]
    assert await house.value("select count(*) from detent.pause_wish") == 0
