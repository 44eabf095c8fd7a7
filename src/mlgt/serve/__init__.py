"""`mlgt serve`: models behind HTTP, and a page to tag texts by hand.

    bytes -> parsing -> Tagging -> batching -> ServedModel -> answers -> JSON

Needs the extra `serve` (Starlette and uvicorn).
"""

from .app import make_app
from .limits import RequestLimits
from .models import Models
from .server import serve

__all__ = ["Models", "RequestLimits", "make_app", "serve"]
