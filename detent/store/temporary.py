"""A PostgreSQL for one run, of tests or of a benchmark, that leaves nothing behind however the run ends."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from detent.store.embedded import EmbeddedPostgres

# Waits until the run is over, which closes its end of the pipe, and until the server has stopped; then the folder goes.
_SWEEP: Final = """
cat > /dev/null
tries=0
while [ -e "$1/pg/postmaster.pid" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1"
"""


@contextmanager
def temporary_postgres(
    settings: Mapping[str, str] | None = None, *, within: Path | None = None
) -> Iterator[EmbeddedPostgres]:
    """In a folder of its own `within` another one, by default the one for temporary files.

    Call it in a thread that lives as long as the server should: the kernel ties the two together."""
    data = Path(tempfile.mkdtemp(prefix="detent-", dir=within))
    data.chmod(0o755)  # the server may run as another user
    sweeper = subprocess.Popen(
        ["/bin/sh", "-c", _SWEEP, "detent-sweep", str(data)],
        stdin=subprocess.PIPE,
        start_new_session=True,  # what kills the run must not kill the sweeper
        cwd="/",
    )
    server = EmbeddedPostgres(data=data, settings=dict(settings or {}))
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(data, ignore_errors=True)
        if sweeper.stdin is not None:
            sweeper.stdin.close()
        sweeper.wait()
