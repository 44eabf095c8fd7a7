"""Make one page of all results: tables with the best in bold, pictures, what differs from the paper.

The page is HTML and needs no other file. With --markdown the same goes to a file for the docs, which points
to the pictures in DIR.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", help="where `mlgt reproduce` and `mlgt bench --out DIR/NAME` wrote"
    )
    parser.add_argument("-o", "--output", metavar="HTML", help="the page (default: DIR/report.html)")
    parser.add_argument(
        "--markdown", metavar="FILE", help="write Markdown there, and no page unless -o is given"
    )


def run(options: argparse.Namespace) -> None:
    import os
    from pathlib import Path

    from mlgt._core.files import replacing
    from mlgt._core.terminal import show

    from ..paper.collect import html_report, markdown_report

    written = []
    if options.markdown:
        target = Path(options.markdown)
        pictures = Path(os.path.relpath(options.folder, target.resolve().parent)).as_posix()
        written.append((target, markdown_report(options.folder, pictures)))
    if options.output or not options.markdown:
        page = Path(options.output or Path(options.folder) / "report.html")
        written.append((page, html_report(options.folder)))
    for path, text in written:
        with replacing(path) as file:
            file.write(text.encode())
        show(str(path))
