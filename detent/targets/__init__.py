"""What a firing does. A target turns the work of a schedule into something to call: once a text, not once a firing."""
