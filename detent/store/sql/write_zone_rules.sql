-- The rules of a package, written down once. Locks: none that anybody waits for.
insert into detent.zone_rules (version, zone, spans)
select $1, z.name, z.spans from unnest($2::text[], $3::jsonb[]) z (name, spans)
on conflict do nothing
