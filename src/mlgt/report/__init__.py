"""Results for people who would rather look than read: pictures, and a page that holds them."""

from .page import evaluation_page
from .pictures import draw_demo, draw_partition, draw_reliability

__all__ = ["draw_demo", "draw_partition", "draw_reliability", "evaluation_page"]
