"""Reports of results: pictures and HTML pages."""

from .page import evaluation_page
from .pictures import check_picture, draw_demo, draw_partition, draw_reliability

__all__ = ["check_picture", "draw_demo", "draw_partition", "draw_reliability", "evaluation_page"]
