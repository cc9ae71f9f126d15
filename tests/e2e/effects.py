"""The app whose effects must happen exactly once. Wherever a test holds a place, whoever comes there waits."""

from __future__ import annotations

import os

import asyncpg

from detent import Context, Detent

app = Detent("effects")

SCHEMA = """
create table effect (key text, attempt int);
create function here(place text) returns void language sql as
  'select pg_advisory_xact_lock_shared(hashtext(place))';
create function deleting() returns trigger language plpgsql as 'begin perform here(''deleting''); return old; end';
create trigger deleting before delete on detent.running for each row execute function deleting();
create function recorded() returns trigger language plpgsql as 'begin perform here(''recorded''); return null; end';
create trigger recorded after insert on detent.attempt for each row when (new.outcome = 'succeeded')
  execute function recorded();
create function committing() returns trigger language plpgsql as 'begin perform here(''committing''); return null; end';
create constraint trigger committing after insert on effect deferrable initially deferred
  for each row execute function committing();
"""
BEFORE_THE_COMMIT = ["begun", "written", "deleting", "recorded"]
AFTER_IT = ["committing", "committed"]


@app.task
async def pay(ctx: Context) -> None:
    async with ctx.transaction() as connection:
        await connection.execute("select here('begun')")
        await connection.execute("insert into effect values ($1, $2)", ctx.idempotency_key, ctx.attempt)
        await connection.execute("select here('written')")
    another = await asyncpg.connect(os.environ["DETENT_DATABASE_URL"])
    await another.execute("select here('committed')")
    await another.close()
