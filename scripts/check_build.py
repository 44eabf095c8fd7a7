"""Build the sdist and the wheel, and check what is in them.

    pip install build twine "readme_renderer[md]" && python scripts/check_build.py [FOLDER]

Checked are: the files, which are those that git knows and no others; the metadata and the long description
(`twine check --strict`); that the long description has no relative links, which lead nowhere on an index;
and the sizes. What is built is left in FOLDER, if it is given. `.ci/run` runs this.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SDIST_FOLDERS = {"src", "tests", "scripts", "docs", "integrations"}
SDIST_FILES = {"pyproject.toml", "mkdocs.yml", "CITATION.cff", "LICENSE", ".gitignore"}
DIST_INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
MAX_MB = {"wheel": 2.5, "sdist": 6.0}


def tracked():
    """Return the paths that git knows, relative to the root of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {path for path in listed.splitlines() if (ROOT / path).is_file()}


def expected_in_wheel(paths, info):
    """Return the files a wheel should have: the package, and the folder `info` of metadata."""
    package = {path.removeprefix("src/") for path in paths if path.startswith("src/mlgt/")}
    return package | {f"{info}/{name}" for name in DIST_INFO}


def expected_in_sdist(paths):
    """Return the files an sdist should have: all that the tests and the docs need, without research/."""
    chosen = {path for path in paths if path.split("/")[0] in SDIST_FOLDERS and "/" in path}
    chosen |= {path for path in paths if "/" not in path and path.endswith(".md")}
    return chosen | (paths & SDIST_FILES) | {"PKG-INFO"}


def check_files(kind, found, expected):
    """Stop if files are missing or too many."""
    lines = [f"missing from the {kind}: {path}" for path in sorted(expected - found)]
    lines += [f"not expected in the {kind}: {path}" for path in sorted(found - expected)]
    if lines:
        sys.exit("\n".join(lines))


def check_metadata(text):
    """Stop if the metadata lacks what a visitor of an index looks for."""
    metadata = Parser().parsestr(text)
    for field in ("Name", "Version", "Summary", "License-File", "Requires-Python", "Project-URL"):
        if not metadata.get_all(field):
            sys.exit(f"The metadata has no {field}; add it to pyproject.toml.")
    readme = metadata.get_payload()
    if relative := re.findall(r"\]\((?!https?:|#)[^)]*\)", readme):
        sys.exit(f"Relative links in the long description: {relative}; see hatch-fancy-pypi-readme.")


def main(folder):
    """Build into `folder` and check."""
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.PIPE
    )
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    paths = tracked()
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if not name.endswith("/")}
        info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
        check_files("wheel", names, expected_in_wheel(paths, info))
        check_metadata(file.read(f"{info}/METADATA").decode())
    with tarfile.open(sdist) as file:
        names = {member.name.partition("/")[2] for member in file.getmembers() if member.isfile()}
        check_files("sdist", names, expected_in_sdist(paths))
    for kind, path in {"wheel": wheel, "sdist": sdist}.items():
        size = path.stat().st_size / 1e6
        if size > MAX_MB[kind]:
            sys.exit(f"The {kind} has {size:.1f} MB, more than {MAX_MB[kind]}; see what made it grow.")
        print(f"{path.name}: {size:.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where to leave the sdist and the wheel")
    options = parser.parse_args()
    if options.folder:
        main(options.folder)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
