-- What runs, by lane, in a pool or of a tenant with a cap. Resting rows hold seats, not caps.
select pool, lane, count(*) as n from detent.running where node is not null group by pool, lane
