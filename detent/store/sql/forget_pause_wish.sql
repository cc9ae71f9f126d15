-- A wish that was granted, or came too late. One that was made anew meanwhile stays.
delete from detent.pause_wish where schedule_id = $1 and revision = $2
