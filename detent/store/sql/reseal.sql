-- Secrets under another key. Locks: held already.
update detent.secret s set key_id = $2, sealed = n.sealed
from unnest($1::bigint[], $3::bytea[]) n (id, sealed) where s.id = n.id
