"""Detent: a distributed scheduler on PostgreSQL."""

__version__ = "0.1.0"
