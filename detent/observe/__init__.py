"""What can be seen: a catalogue of events, and who listens to them."""
