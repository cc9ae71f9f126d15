"""What a target needs before its schedule is accepted: what its requests refer to, and what they are signed with."""

from __future__ import annotations

from collections.abc import Mapping

from detent.commands.signing import VALUE, ensure_signing, keyring_of
from detent.domain.errors import SpecError
from detent.domain.http.headers import SECRET
from detent.domain.http.spec import HTTP, read_http
from detent.domain.http.template import is_template, names_in
from detent.domain.schedule import Schedule
from detent.settings import Settings
from detent.store import secrets
from detent.store.pool import Connection


async def make_ready(
    connection: Connection, settings: Settings, tenant_id: int, schedules: Mapping[int, Schedule]
) -> dict[int, SpecError]:
    """Of schedules by any number, those whose targets refer to what isn't there."""
    http = {number: one for number, one in schedules.items() if HTTP in one.work.target}
    if not http:
        return {}
    await ensure_signing(connection, keyring_of(settings), tenant_id)
    known = {one.name for one in await secrets.named_secrets(connection, tenant_id) if one.kind == VALUE}
    refused = {}
    for number, one in http.items():
        if missing := sorted(_referred(one) - known):
            refused[number] = SpecError(
                f'there is no secret "{missing[0]}": set it by `detent secrets set {missing[0]}`',
                code="no_secret", field=f"target/{HTTP}/headers",
            )  # fmt: skip
    return refused


def _referred(schedule: Schedule) -> set[str]:
    headers = read_http(schedule.work.target, schedule.work.payload).headers
    return {
        name.removeprefix(SECRET) for _, value in headers if is_template(value) for name in names_in(value)
    }
