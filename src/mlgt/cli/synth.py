"""Write a synthetic data set: OUT/train.txt.gz and OUT/test.txt.gz, in the format of `mlgt train`.

Label frequencies follow a power law, the labels of a row are near one another in a tree of topics, and its
words tell about its labels, with noise. With a preset it has the size of one of the paper's data sets
(rcv1x, amazoncat, wiki10, wikilshtc, amazon670k). It is a stand-in: figures on it are not figures on them.
"""

from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .console import add_seed, compile_for_synthesis, narrator, whole

PARTS = ("train", "test")
ENDINGS = (".txt.gz", ".txt")


def add_arguments(parser):
    parser.add_argument("folder", metavar="OUT", help="the folder to write to; made if it is not there")
    parser.add_argument("--preset", metavar="NAME", help="the size of a data set of the paper, see above")
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        metavar="S",
        help="shrink rows, labels and features of the preset",
    )
    add_seed(parser)
    parser.add_argument("--plain", action="store_true", help="write train.txt and test.txt, not packed")
    parser.add_argument("--force", action="store_true", help="replace the data set in OUT if there is one")
    sizes = parser.add_argument_group("sizes; those of the preset if not given")
    sizes.add_argument("--rows", type=whole, metavar="N", help="training rows")
    sizes.add_argument("--test-rows", type=whole, metavar="N", help="default: a quarter of --rows")
    sizes.add_argument("--features", type=whole, metavar="P", help="words in the vocabulary")
    sizes.add_argument("--labels", type=whole, metavar="D")
    sizes.add_argument("--labels-per-row", type=float, metavar="K", help="on average (default: 5)")
    sizes.add_argument("--words-per-row", type=float, metavar="W", help="on average (default: 75)")
    sizes.add_argument("--noise", type=float, help="share of labels and words that mislead (default: 0.2)")


SETTINGS = ("rows", "test_rows", "features", "labels", "labels_per_row", "words_per_row", "noise")


TABLES = 64  # bytes a label or a feature, at most


def run(options):
    from .._core.memory import check_memory
    from ..data.synth import Collection, make_shape

    shape = make_shape(options.preset, options.scale, **{name: getattr(options, name) for name in SETTINGS})
    needed = TABLES * (shape.labels + shape.features)
    check_memory(needed, "the tables of the model", "Ask for fewer labels or features.")
    tell = narrator(options)
    with _folder(options.folder, options.force) as folder:
        compile_for_synthesis(tell)
        with tell.stage("drawing the model"):
            collection = Collection(shape, options.seed)
        _write(collection, folder, options.plain, tell)
    tell.say(f"next: mlgt train {folder / _name('train', options.plain)} --model DIR")


def _name(part, plain):
    return part + ENDINGS[plain]


@contextmanager
def _folder(path, force):
    """The folder to write in; removed again if it is new and writing fails."""
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
    new = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        yield folder
    except BaseException:  # Ctrl-C too
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _write(collection, folder, plain, tell):
    """Both files, which appear together when both are whole."""
    from ..data.files import gzip_writer, replacing
    from ..data.synth import to_text

    shape = collection.shape
    first = 0
    with ExitStack() as both:
        for part, n in zip(PARTS, (shape.rows, shape.test_rows)):
            file = both.enter_context(replacing(folder / _name(part, plain)))
            with ExitStack() as one, tell.stage(f"writing {part} rows") as progress:
                out = file if plain else one.enter_context(gzip_writer(file, level=1))
                out.write(f"{n} {shape.features} {shape.labels}\n".encode())
                done = 0
                for block in collection.blocks(first, first + n):
                    out.write(to_text(block))
                    done += block.X.shape[0]
                    if progress is not None:
                        progress(done, n)
            first += n
    for part in PARTS:  # what --force replaces may have been written the other way
        (folder / _name(part, not plain)).unlink(missing_ok=True)
