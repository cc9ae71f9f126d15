"""Cron: the dialect, its parser, and the wall times that an expression names."""

from detent.domain.cron.expression import Cron
from detent.domain.cron.parse import clean_expression, parse_cron
from detent.domain.cron.units import ALIASES

__all__ = ["ALIASES", "Cron", "clean_expression", "parse_cron"]
