"""The peers, fetched by name and version from where pip and npm are told to look, into a folder that git doesn't see.

Node.js is fetched too, for the peers ask for a newer one than systems have. PgQueuer gets the asyncpg and uvloop that
Detent runs on here, so that neither has the better driver.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from detent.bench.crew import BenchError

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / ".peers"
GRAPHILE: Final = "0.18.0"
PG_BOSS: Final = "12.35.0"
PGQUEUER: Final = "1.6.0"
_PG: Final = "8.23.1"
_NODE: Final = "24.21.0"
_MACHINES: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def node() -> tuple[Path, Path]:
    """Node.js, and the folder with its packages."""
    machine = _MACHINES.get(platform.machine().lower(), platform.machine())
    runtime = f"node-{platform.system().lower()}-{machine}"
    packages = [f"graphile-worker@{GRAPHILE}", f"pg-boss@{PG_BOSS}", f"pg@{_PG}", f"{runtime}@{_NODE}"]
    home = KEPT / "node"
    if _stale(home, packages):
        if shutil.which("npm") is None:
            raise BenchError(
                "the peers in JavaScript are fetched by npm, which isn't there: install it, or --only"
            )
        (home / "package.json").write_text('{"private": true}\n')
        _run(
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--save-exact",
            *packages,
            cwd=home,
        )
        _fetched(home, packages)
    return home / "node_modules" / runtime / "bin" / "node", home


def python() -> Path:
    """A Python of its own that has PgQueuer."""
    packages = [f"pgqueuer=={PGQUEUER}", *(f"{name}=={version(name)}" for name in ("asyncpg", "uvloop"))]
    home = KEPT / f"python-{platform.python_version()}"
    interpreter = home / "bin" / "python"
    if _stale(home, packages):
        _run(sys.executable, "-m", "venv", str(home), cwd=home)
        _run(
            str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, cwd=home
        )
        _fetched(home, packages)
    return interpreter


def _stale(home: Path, packages: Sequence[str]) -> bool:
    """Whether it has to be fetched; then the folder is empty."""
    note = home / "fetched.json"
    if note.exists() and json.loads(note.read_text()) == packages:
        return False
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    print(f"fetching {', '.join(packages)}", file=sys.stderr, flush=True)
    return True


def _fetched(home: Path, packages: Sequence[str]) -> None:
    (home / "fetched.json").write_text(json.dumps(packages))


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-800:]}")
