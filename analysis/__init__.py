"""Swimscope's analyses: pure Python over numpy columns, usable without the dashboard."""
