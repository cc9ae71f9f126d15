"""What is stored and how it is changed: one SQL file a statement, one Python function of the same name."""
