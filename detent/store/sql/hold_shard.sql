-- Whether a shard is still ours; if so, it stays so until the end of this transaction. Locks: its row FOR SHARE.
select id from detent.shard where id = $1 and holder = $2 and epoch = $3 for share
