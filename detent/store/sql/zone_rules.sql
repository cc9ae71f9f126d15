-- The rules of all packages that ever planned here. No locks.
select version, zone, spans from detent.zone_rules
