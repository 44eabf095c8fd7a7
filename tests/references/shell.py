"""Commands of the docs as a reader would type them."""

import os
import subprocess
import sys


def run_shell(code, folder):
    """Run lines in `folder`, with `mlgt` being this very one; fails with what was said."""
    command = folder / "bin" / "mlgt"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mlgt "$@"\n')
    command.chmod(0o755)
    paths = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", code],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
