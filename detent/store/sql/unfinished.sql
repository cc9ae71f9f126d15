-- Whether a firing of [$1, $2) has not come to its end: its partitions stay, for its last fact is still to be written.
select exists (select from detent.running where scheduled_for >= $1 and scheduled_for < $2)
  or exists (select from detent.waiting where scheduled_for >= $1 and scheduled_for < $2)
