"""Cron: the dialect, its parser, and the wall times that an expression names."""

from detent.domain.cron.expression import Cron
from detent.domain.cron.parse import ALIASES, clean_expression, parse_cron

__all__ = ["ALIASES", "Cron", "clean_expression", "parse_cron"]
