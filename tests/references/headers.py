"""A changed header of a model folder with its digest: what a crafted folder could hold."""

import json

from mlgt.model.header import signed


def write_header(folder, header):
    """Write `header` to the model folder, signed again."""
    body = {key: value for key, value in header.items() if key != "digest"}
    (folder / "model.json").write_text(signed(json.dumps(body, indent=1)), "utf-8")
