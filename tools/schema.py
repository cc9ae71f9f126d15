"""Writes docs/schema.sql: the tables as `detent migrate` leaves them, for people, and for a test to compare.

Functions stand in detent/store/functions as they are; rights in detent/store/roles.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Final

import asyncpg

from detent.store.binaries import find_binaries, version_of
from detent.store.migrate import migrate
from detent.store.temporary import temporary_postgres

PAGE: Final = Path(__file__).parent.parent / "docs" / "schema.sql"
MAJOR: Final = "18"
"""Each version of pg_dump words things in its own way; this is the one that the lock file brings."""

_BLOCK: Final = re.compile(r"^--\n-- Name: (?P<name>[^;]+); Type: (?P<type>[^;]+);[^\n]*\n--\n", re.MULTILINE)


def dump(url: str) -> str:
    """The schema of a database, without what changes from run to run."""
    binaries = find_binaries()
    said = subprocess.run(
        [binaries / "pg_dump", "--schema-only", "--schema=detent", "--no-owner", "--no-privileges", url],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    headers = list(_BLOCK.finditer(said.stdout))
    ends = [header.start() for header in headers[1:]] + [len(said.stdout)]
    blocks = [
        said.stdout[header.end() : end].strip()
        for header, end in zip(headers, ends, strict=True)
        if header["type"] != "FUNCTION"
    ]
    kept = "\n\n".join(
        re.sub(r"^(?:--.*|\\.*|SET .*)\n?", "", block, flags=re.MULTILINE).strip() for block in blocks
    )
    return (
        f"-- Written by `make docs` from the migrations: PostgreSQL's own words for the tables.\n\n{kept}\n"
    )


def comparable() -> bool:
    """Whether pg_dump is there, in the version that wrote the page."""
    binaries = find_binaries()
    return (binaries / "pg_dump").exists() and version_of(binaries).startswith(f"{MAJOR}.")


def main() -> None:
    with temporary_postgres({"fsync": "off"}) as server:
        asyncio.run(_migrate(server.url))
        PAGE.write_text(dump(server.url), "utf-8")


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection)
    await connection.close()


if __name__ == "__main__":
    main()
