"""The composition root of the command line."""

from __future__ import annotations

import os
import sys

import typer

from detent.cli.bench import bench_command
from detent.cli.config import config_command
from detent.cli.declare import declare_command
from detent.cli.dev import dev_command
from detent.cli.lint import lint_command
from detent.cli.migrate import migrate_command
from detent.cli.next import next_command
from detent.cli.planner import planner_command
from detent.cli.version import version_command
from detent.cli.worker import worker_command

REFUSED_BY_THE_SYSTEM = 1

app = typer.Typer(
    name="detent",
    help="Cron, intervals and one-off jobs, on time, on PostgreSQL.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("dev")(dev_command)
app.command("planner")(planner_command)
app.command("worker")(worker_command)
app.command("declare")(declare_command)
app.command("next")(next_command)
app.command("lint")(lint_command)
app.command("migrate")(migrate_command)
app.command("config")(config_command)
app.command("bench")(bench_command)
app.command("version")(version_command)


@app.callback()
def _root() -> None:
    """Keeps `detent next` a subcommand however many there are."""


def main() -> None:
    """Run a command. What the system refuses (a full disk, a closed stream) is told in a line, not by a traceback."""
    try:
        try:
            app(prog_name="detent")
        finally:
            if sys.stdout is not None:  # else a full disk would be noticed after our last word
                sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader has seen enough
            print(f"detent: {error}", file=sys.stderr)
        if sys.stdout is not None:  # what it still holds would fail once more at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(REFUSED_BY_THE_SYSTEM)
