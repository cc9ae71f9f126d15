"""All settings, read once. Where a value comes from: an option, else the environment, else the default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from detent.domain.errors import DetentError
from detent.domain.http.reach import Reach, parse_reach

if TYPE_CHECKING:
    from detent.sealing import Keyring

_PREFIX: Final = "DETENT_"
_BOOLEANS: Final = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False}
_LEAST: Final = {"DETENT_LEASE_TTL": 1.0}
"""A shorter lease is lost to any pause of the machine."""
_OTHERS: Final = {"DETENT_PG_BIN", "DETENT_DATA"}
"""Read where they are needed: by the supervisor of the embedded PostgreSQL."""


class SettingsError(DetentError):
    """A setting is unknown or has no sense."""

    code = "settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Frozen, and passed on: nothing else reads the environment."""

    database_url: str
    maintenance_url: str | None = None
    """For `detent migrate` and the upkeep of partitions: a direct connection as the owner of the tables."""
    pooler: bool = False
    """The URL leads to a pooler in transaction mode."""
    listen: bool = True
    """Without LISTEN, polling alone finds what is due at once."""
    lease_ttl: float = 10.0
    """Seconds until a silent node is taken for dead."""
    look_ahead: float = 30.0
    """Seconds that planners promise ahead."""
    claim_ahead: float = 0.25
    """Seconds before its instant that a firing may be claimed."""
    poll: float = 0.1
    """Seconds between two looks for what is waiting, if nothing tells of it before."""
    plan_every: float = 1.0
    """Seconds between two ticks of a planner that has nothing to catch up."""
    retention_days: int = 90
    http_allow: str = ""
    """Networks and names that HTTP targets may reach besides the public: see detent/domain/http/reach.py."""
    http_plain: bool = False
    """http:// to public hosts, too."""
    secret_key: str | None = field(default=None, repr=False)
    """What secrets are sealed with: see detent/sealing.py."""

    @property
    def look_ahead_delta(self) -> timedelta:
        return timedelta(seconds=self.look_ahead)

    @property
    def reach(self) -> Reach:
        """Whom HTTP targets may reach."""
        return parse_reach(self.http_allow, plain=self.http_plain)

    @property
    def keyring(self) -> Keyring | None:
        """What opens and seals secrets; without it there are no HTTP targets."""
        if self.secret_key is None:
            return None
        from detent.sealing import keyring  # noqa: PLC0415 who has no key starts without it

        return keyring(self.secret_key)

    @property
    def claim_ahead_delta(self) -> timedelta:
        return timedelta(seconds=self.claim_ahead)


@dataclass(frozen=True, slots=True)
class Found:
    """A value, and where it came from."""

    value: object
    origin: str


def from_environment(environment: Mapping[str, str], **given: object) -> Settings:
    """`given` are options of the command line; None means not given."""
    values = {name: found.value for name, found in find(environment, **given).items()}
    if values["database_url"] is None:
        raise SettingsError("no database: set DETENT_DATABASE_URL, or use `detent dev`, which brings its own")
    settings = Settings(**values)  # type: ignore[arg-type]
    _ = settings.reach, settings.keyring  # what can't be read is told now
    return settings


def find(environment: Mapping[str, str], **given: object) -> dict[str, Found]:
    """Each setting with its origin. Without a database, `database_url` is None."""
    known = {f"{_PREFIX}{one.name.upper()}": one for one in fields(Settings)}
    found = {
        one.name: Found(None if one.default is MISSING else one.default, "default") for one in known.values()
    }
    for name, text in environment.items():
        if not name.startswith(_PREFIX) or name in _OTHERS:
            continue
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
            raise SettingsError(f"{name} is no setting: {advice}")
        kind = str(known[name].type).removesuffix(" | None")
        found[known[name].name] = Found(_value(name, text, type_name=kind), name)
    for name, value in given.items():
        if value is not None:
            found[name] = Found(value, f"--{name.replace('_', '-')}")
    return found


def _value(name: str, text: str, *, type_name: str) -> object:
    if type_name == "bool":
        if text.lower() not in _BOOLEANS:
            raise SettingsError(f'{name} is "{text[:40]}", which is no bool: write {" or ".join(_BOOLEANS)}')
        return _BOOLEANS[text.lower()]
    try:
        value = {"int": int, "float": float, "str": str}[type_name](text)
    except ValueError:
        raise SettingsError(f'{name} is "{text[:40]}", which is no {type_name}') from None
    if isinstance(value, int | float):
        if not 0 < value < 1e9:
            raise SettingsError(f"{name} must be a positive number")
        if value < (least := _LEAST.get(name, 0)):
            raise SettingsError(f"{name} is at least {least:g}")
    return value


def masked(value: object) -> object:
    """A URL without its password; anything else as it is."""
    if not isinstance(value, str):
        return value
    without = re.sub(r"(//[^:@/?]*:)[^@/?]*@", r"\1***@", value)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", without)
