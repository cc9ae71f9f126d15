-- What a dashboard without regard for others asks: each of the core's tables, from one end to the other.
select (select count(*) from detent.waiting where due_at is not null) as waiting,
  (select count(*) from detent.running where started_at is not null) as running,
  (select count(*) from detent.timer where next_at is not null) as timers,
  (select coalesce(sum(n), 0) from detent.tally) as concluded
