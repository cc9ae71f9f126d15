-- Witnesses: triggers of the simulation's databases that see every change as it is made, and write down what must not be.
-- What they write commits with the change.
create schema sim;

create table sim.breach (what text not null);

-- Every claim: who was given which token for which firing. Every waiting row that left, and when it was due.
create table sim.claim (
  schedule_id bigint not null, scheduled_for timestamptz not null, number int not null, volley bigint not null,
  node bigint not null, at timestamptz not null default detent.now(), primary key (volley, schedule_id, scheduled_for)
);
create index on sim.claim (schedule_id, scheduled_for);
create table sim.waited (
  schedule_id bigint not null, scheduled_for timestamptz not null, number int not null, due_at timestamptz not null,
  primary key (schedule_id, scheduled_for, number, due_at)
);

-- Firings that changed their place since the last look.
create table sim.touched (schedule_id bigint not null, scheduled_for timestamptz not null);
create function sim.touch() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into sim.touched values (new.schedule_id, new.scheduled_for);
  else
    insert into sim.touched values (old.schedule_id, old.scheduled_for);
  end if;
  return null;
end $$;
create trigger touch after insert or update or delete on detent.firing for each row execute function sim.touch();
create trigger touch after insert or update or delete on detent.waiting for each row execute function sim.touch();
create trigger touch after insert or update or delete on detent.running for each row execute function sim.touch();
create trigger touch after insert or update or delete on detent.attempt for each row execute function sim.touch();
create trigger touch after insert or update or delete on detent.dead for each row execute function sim.touch();

create function sim.note(text) returns void language sql as $$ insert into sim.breach (what) values ($1) $$;

create function sim.unchangeable() returns trigger language plpgsql as $$
begin
  perform sim.note(format('%s was changed (%s): %s', tg_argv[0], lower(tg_op), old));
  return null;
end $$;
create trigger unchangeable after update or delete on detent.attempt for each row execute function sim.unchangeable('an attempt');
create trigger unchangeable after update or delete on detent.firing for each row execute function sim.unchangeable('a firing');
create trigger unchangeable after update or delete on detent.omission for each row execute function sim.unchangeable('an omission');

-- Under one revision the cursor only moves forward. Commands move it in steps, so it is looked at when they commit.
create table sim.cursor (schedule_id bigint primary key, revision int not null, next_at timestamptz);
create function sim.timer_moves() returns trigger language plpgsql as $$
declare
  now_at detent.timer;
  was sim.cursor;
begin
  select * into was from sim.cursor c where c.schedule_id = new.schedule_id;
  select * into now_at from detent.timer t where t.schedule_id = new.schedule_id;
  if now_at.revision = was.revision and now_at.next_at < was.next_at then
    perform sim.note(format('the timer of %s moved back from %s to %s', new.schedule_id, was.next_at, now_at.next_at));
  end if;
  insert into sim.cursor values (new.schedule_id, now_at.revision, now_at.next_at)
  on conflict (schedule_id) do update set revision = excluded.revision, next_at = excluded.next_at;
  return null;
end $$;
create constraint trigger moves after insert or update on detent.timer deferrable initially deferred
for each row execute function sim.timer_moves();

create function sim.leaves_waiting() returns trigger language plpgsql as $$
begin
  insert into sim.waited values (old.schedule_id, old.scheduled_for, old.number, old.due_at) on conflict do nothing;
  return null;
end $$;
create trigger leaves after delete on detent.waiting for each row execute function sim.leaves_waiting();

create function sim.claimed() returns trigger language plpgsql as $$
declare
  last bigint;
  has int;
begin
  if tg_op = 'UPDATE' and new.volley = old.volley then
    return null;
  end if;
  select max(c.volley) into last from sim.claim c
  where c.schedule_id = new.schedule_id and c.scheduled_for = new.scheduled_for;
  if last >= new.volley then
    perform sim.note(format('the token of %s %s fell from %s to %s', new.schedule_id, new.scheduled_for, last, new.volley));
  end if;
  select t.seats into has from detent.timer t where t.schedule_id = new.schedule_id;
  if tg_op = 'INSERT' and has > 0 and
     (new.seat >= has or has < (select count(*) from detent.running r where r.schedule_id = new.schedule_id)) then
    perform sim.note(format('schedule %s has %s seats, and seat %s was taken', new.schedule_id, has, new.seat));
  end if;
  insert into sim.claim values (new.schedule_id, new.scheduled_for, new.number, new.volley, new.node);
  return null;
end $$;
create trigger claimed after insert or update on detent.running
for each row when (new.node is not null) execute function sim.claimed();

-- These look when their transaction commits, at what has been committed by then.
create function sim.claim_commits() returns trigger language plpgsql as $$
declare
  found text;
begin
  if tg_op = 'UPDATE' and new.volley = old.volley then
    return null;
  end if;
  select s.status into found from detent.schedule s
  join detent.firing f on f.schedule_id = new.schedule_id and f.scheduled_for = new.scheduled_for
  join sim.waited w on w.schedule_id = new.schedule_id and w.scheduled_for = new.scheduled_for and w.number = new.number
  where s.id = new.schedule_id and s.status in ('paused', 'deleted') and f.kind <> 'manual'
    and (s.paused_until is null or w.due_at < s.paused_until);
  if found is not null then
    perform sim.note(format('%s %s was claimed when its schedule was %s', new.schedule_id, new.scheduled_for, found));
  end if;
  if not exists (select from detent.node n where n.id = new.node) then
    perform sim.note(format('%s %s was claimed by node %s, which is buried', new.schedule_id, new.scheduled_for, new.node));
  end if;
  return null;
end $$;
create constraint trigger claim_commits after insert or update on detent.running deferrable initially deferred
for each row when (new.node is not null) execute function sim.claim_commits();

create function sim.plan_commits() returns trigger language plpgsql as $$
declare
  current bigint;
begin
  select s.epoch into current from detent.shard s join detent.timer t on t.shard = s.id where t.schedule_id = new.schedule_id;
  if current <> new.epoch then
    perform sim.note(format('%s %s was planned under epoch %s, when %s held', new.schedule_id, new.scheduled_for, new.epoch, current));
  end if;
  return null;
end $$;
create constraint trigger plan_commits after insert on detent.firing deferrable initially deferred
for each row when (new.epoch is not null) execute function sim.plan_commits();

create function sim.shard_moves() returns trigger language plpgsql as $$
begin
  perform sim.note(format('shard %s went to %s under the old epoch %s', new.id, new.holder, new.epoch));
  return null;
end $$;
create trigger moves after update on detent.shard for each row
when (new.holder is not null and new.holder is distinct from old.holder and new.epoch <= old.epoch)
execute function sim.shard_moves();

-- Hot tables are vacuumed by nobody, so that a seed always finds the same rows in the same places.
do $$
declare
  name text;
begin
  for name in select c.oid::regclass from pg_class c where c.relnamespace = 'detent'::regnamespace and c.relkind = 'r' loop
    execute format('alter table %s set (autovacuum_enabled = off)', name);
  end loop;
end $$;
