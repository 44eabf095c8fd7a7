"""Write a synthetic data set to OUT/train.txt.gz and OUT/test.txt.gz.

Label frequencies follow a power law, the labels of a row are close to each
other in a tree of topics, and its words depend on its labels, with noise. A
preset has the size of one of the paper's data sets (rcv1x, amazoncat, wiki10,
wikilshtc, amazon670k); results on it are not results on the real data.
"""

from argparse import ArgumentParser, Namespace
from contextlib import ExitStack
from pathlib import Path

from .console import add_seed, compile_for_synthesis, make_narrator, whole

PARTS = ("train", "test")
ENDINGS = (".txt.gz", ".txt")
SETTINGS = ("rows", "test_rows", "features", "labels", "labels_per_row", "words_per_row", "noise")
TABLE_BYTES = 64  # largest size of the tables per label or feature


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="OUT", help="folder to write to; created if it does not exist")
    parser.add_argument("--preset", metavar="NAME", help="size of a data set of the paper, see above")
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="scale rows, labels and features of the preset by S, at most 1 (default: 1)",
    )
    add_seed(parser)
    parser.add_argument("--plain", action="store_true", help="write train.txt and test.txt without gzip")
    parser.add_argument(
        "--force", action="store_true", help="overwrite the data set in OUT if there is one"
    )
    sizes = parser.add_argument_group("sizes (default: those of the preset)")
    sizes.add_argument("--rows", type=whole, metavar="N", help="number of training rows")
    sizes.add_argument(
        "--test-rows", type=whole, metavar="N", help="number of test rows (default: a quarter of --rows)"
    )
    sizes.add_argument("--features", type=whole, metavar="P", help="number of words in the vocabulary")
    sizes.add_argument("--labels", type=whole, metavar="D", help="number of labels")
    sizes.add_argument(
        "--labels-per-row", type=float, metavar="K", help="average labels per row (default: 5)"
    )
    sizes.add_argument(
        "--words-per-row", type=float, metavar="W", help="average words per row (default: 75)"
    )
    sizes.add_argument("--noise", type=float, help="share of random labels and words (default: 0.2)")


def run(options: Namespace) -> None:
    from .._core.aside import making_folder
    from .._core.memory import check_memory
    from ..data.synth import Collection, make_shape

    shape = make_shape(options.preset, options.scale, **{name: getattr(options, name) for name in SETTINGS})
    needed = TABLE_BYTES * (shape.labels + shape.features)
    check_memory(needed, "the tables of the model", "Pass fewer labels or features.")
    progress = make_narrator(options)
    folder = _check_folder(options.folder, options.force)
    with making_folder(folder):
        compile_for_synthesis(progress)
        with progress.stage("drawing the model"):
            collection = Collection(shape, options.seed)
        _write(collection, folder, options.plain, progress)
    progress.say(f"next: mlgt train {folder / _name('train', options.plain)} --model DIR")


def _name(part, plain):
    return part + ENDINGS[plain]


def _check_folder(path, force):
    """Return the folder to write to; raise if it cannot be created, or holds a data set already."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; expected a folder, or a new name for one.")
    for name in (part + ending for part in PARTS for ending in ENDINGS):
        if not force and (folder / name).exists():
            raise FileExistsError(
                f"{folder / name} exists already; pass --force to replace it, or choose another folder."
            )
    if not folder.resolve().parent.is_dir():
        raise FileNotFoundError(
            f"{folder.parent}: there is no such folder to make {folder.name} in; create it."
        )
    return folder


def _write(collection, folder, plain, progress):
    """Write both files; they appear together when both are complete."""
    from .._core.files import gzip_writer, replacing
    from ..data.synth import to_text

    shape = collection.shape
    first = 0
    with ExitStack() as both:
        for part, n in zip(PARTS, (shape.rows, shape.test_rows)):
            file = both.enter_context(replacing(folder / _name(part, plain)))
            with ExitStack() as one, progress.stage(f"writing {part} rows") as update:
                out = file if plain else one.enter_context(gzip_writer(file, level=1))
                out.write(f"{n} {shape.features} {shape.labels}\n".encode())
                done = 0
                for block in collection.blocks(first, first + n):
                    out.write(to_text(block))
                    done += block.X.shape[0]
                    if update is not None:
                        update(done, n)
            first += n
    for part in PARTS:  # --force may replace files with the other ending
        (folder / _name(part, not plain)).unlink(missing_ok=True)
