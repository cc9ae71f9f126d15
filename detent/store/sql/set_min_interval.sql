-- How close the slots of a tenant's schedules may lie.
update detent.tenant set min_interval = $2 where name = $1 returning id
