"""The SQL files, by name. Each holds one statement that can be pasted into psql."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

_FOLDER: Final = files("detent.store") / "sql"


@cache
def statement(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


def statement_names() -> list[str]:
    return sorted(path.name.removesuffix(".sql") for path in _FOLDER.iterdir() if path.name.endswith(".sql"))
