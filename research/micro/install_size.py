"""What an installation takes: a package with all that it requires, in the environment that runs this.

    pip install "./research[peers]" packaging
    python research/micro/install_size.py mlgt "mlgt[serve]" omikuji libpecos napkinxc [--out FILE]

Sizes are those of the installed files, bytecode left out; the standard library is not counted. A package
that others require too is counted for each. What is required but not installed is named and not counted.
"""

import argparse
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from common import machine, table


def closure(name, found=None):
    """{name: size in bytes} of a package, `name[extra]` too, and all it requires; None if it is missing."""
    found = {} if found is None else found
    wanted = Requirement(name)
    name, extras = wanted.name, wanted.extras or {""}
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        found[name] = None
        return found
    key = package.metadata["Name"].lower().replace("_", "-")
    if key in found and not wanted.extras:
        return found
    files = [Path(package.locate_file(file)) for file in package.files or []]
    found[key] = sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")
    for line in package.requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in extras):
            closure(_with_extras(requirement), found)
    return found


def _with_extras(requirement):
    return f"{requirement.name}[{','.join(requirement.extras)}]" if requirement.extras else requirement.name


def main(names):
    lines = []
    for name in names:
        found = closure(name)
        if found[next(iter(found))] is None:
            print(f"{name} is not installed and left out")
            continue
        missing = ", ".join(part for part, size in found.items() if size is None)
        sizes = {part: size for part, size in found.items() if size is not None}
        largest = sorted(sizes, key=sizes.get, reverse=True)[:3]
        said = ", ".join(f"{part} {sizes[part] / 1e6:.0f}" for part in largest)
        lines.append(
            [
                f"{name} {metadata.version(Requirement(name).name)}",
                len(sizes),
                f"{sum(sizes.values()) / 1e6:.0f}",
                said,
                missing or "-",
            ]
        )
    return (
        f"{machine()}.\n\n"
        + table(["", "packages", "MB", "the largest, MB", "required, but not here"], lines)
        + "\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = main(options.names)
    print(text)
    if options.out:
        options.out.write_text(text, "utf-8")
