"""Reports of results: pictures and HTML pages."""

from .comparison import comparison_page, draw_comparison
from .page import evaluation_page
from .pictures import check_picture, draw_demo, draw_partition, draw_reliability

__all__ = [
    "check_picture",
    "comparison_page",
    "draw_comparison",
    "draw_demo",
    "draw_partition",
    "draw_reliability",
    "evaluation_page",
]
