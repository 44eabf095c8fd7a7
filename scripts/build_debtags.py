"""Build src/mlgt/data/embedded/debtags.npz: the words of Debian's package descriptions and their tags.

    python scripts/build_debtags.py [--out FILE] [--any-index]

Runs on Debian, where apt has fetched the index of the release below; the message of a missing or
different index says what to do. The steps, each a function:

    index files -> paragraphs -> packages (name, source, tags, text) -> split by source
                -> word counts and tags as CSR rows -> one .npz, the same bytes every time

- Labels are debtags, the field Tag. A tag that ends in TODO (`culture::TODO`) is an editor's note that
  a tag is missing, not a tag, and is left out; so is a tag that only one package carries.
- The text is the short and the long English description; the package's name is not added to it.
- A word is a run of letters, digits, + and # with at least one letter, in lower case: `c++`, `c#`, `3d`
  and the language `r` are words, a number is not. English stop words are left out, and words in fewer
  than 3 training packages.
- Packages built from one source have nearly the same description: the sources are split 80/20, so that
  all packages of a source are on one side. Rows are in the order of the package names.
"""

import argparse
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

VERSION = 1  # raise it when the same index gives another file
CODENAME = "bookworm"
DATE = "Sat, 11 Jul 2026 10:16:37 UTC"  # of Debian 12.15, in its InRelease
SHA256 = {  # of the unpacked index files
    "main/binary-amd64/Packages": "515e692f2c4121c6fcec444ef100cc18f79a991910615f3a88c8b7becfc94d2f",
    "main/i18n/Translation-en": "62f59c3cdca9786e4f7adf9002f9f5729a684adcb4667e58e448dec9b5a46c7f",
}
SEED = 0
TEST_SHARE = 0.2
MIN_PACKAGES = 2  # that carry a tag
MIN_DOCUMENTS = 3  # training packages that use a word
MAX_WORDS = 65_536  # word ids are uint16
WORD = r"(?![\d_]+\b)\w[\w+#]*"
OUT = Path(__file__).resolve().parent.parent / "src" / "mlgt" / "data" / "embedded" / "debtags.npz"
FETCH = "apt-get -o Acquire::Languages=en update"


class Package(NamedTuple):
    name: str
    source: str
    tags: frozenset
    text: str


# ---- Debian's index files ----


def read_index(codename, any_index):
    """The paragraphs of Packages and of Translation-en, and where they come from."""
    texts, digests, release = [], {}, {}
    for key in SHA256:
        target = find_target(key, codename)
        raw = run("/usr/lib/apt/apt-helper", "cat-file", target["Filename"])
        texts.append(raw.decode("utf-8"))
        digests[key] = hashlib.sha256(raw).hexdigest()
        release = release or read_release(target)
    if (release["Date"] != DATE or digests != SHA256) and not any_index:
        found = "\n".join(f"  {key}: {digests[key]}, expected {SHA256[key]}" for key in SHA256)
        sys.exit(
            f"apt has the index of {codename} of {release['Date']}; the data set is built from that of "
            f"{DATE}. The SHA-256 of its files:\n{found}\nPoint apt's sources at Debian's snapshot "
            f"archive of that day and run `{FETCH}`, or pass --any-index to build another data set."
        )
    provenance = {
        "source": "package index of Debian GNU/Linux: descriptions and debtags",
        "release": release["Version"],
        "codename": codename,
        "date": release["Date"],
        "sha256": digests,
        "builder": {"script": "scripts/build_debtags.py", "version": VERSION, "seed": SEED},
    }
    return *map(paragraphs, texts), provenance


def find_target(key, codename):
    """What apt knows of the index file that the release calls `key`."""
    wanted = (f"MetaKey: {key}", f"Codename: {codename}", "Origin: Debian")
    said = run("apt-get", "-o", "Acquire::Languages=en", "indextargets", *wanted).decode("utf-8")
    target = next(paragraphs(said), None)
    if target is None or not Path(target["Filename"]).is_file():
        sys.exit(
            f"apt has no {key} of Debian {codename}. Run `{FETCH}` as root; if it is still missing, the "
            f"sources of apt do not name {codename} with its component main for amd64."
        )
    return target


def read_release(target):
    """The fields of the InRelease file beside an index file: its name has the same beginning."""
    file = target["Filename"]
    begin = file[: file.rindex(target["MetaKey"].replace("/", "_"))]
    signed = Path(begin + "InRelease").read_text("utf-8")
    return next(p for p in paragraphs(signed) if "Date" in p)


def run(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except FileNotFoundError:
        sys.exit(f"{command[0]} is missing: Debian's index is read through apt. Run this on Debian.")
    except subprocess.CalledProcessError as error:
        sys.exit(f"`{' '.join(command)}` failed: {error.stderr.decode('utf-8', 'replace').strip()}")


def paragraphs(text):
    """The paragraphs of a control file as dicts; lines that continue a field stay separate lines."""
    for block in re.split(r"\n[ \t]*\n", text):
        fields, name = {}, None
        for line in block.split("\n"):
            if line[:1] in (" ", "\t") and name:
                fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, value = line.split(":", 1)
                fields[name] = value.strip()
        if fields:
            yield fields


# ---- packages ----


def read_packages(index, translations):
    """The tagged packages, by name. If a package has several versions, the first one listed is taken."""
    english = {(t["Package"], t["Description-md5"]): t["Description-en"] for t in translations}
    found = {}
    for fields in index:
        name, tags = fields["Package"], expand_tags(fields.get("Tag", ""))
        if tags and name not in found:
            text = english.get((name, fields.get("Description-md5")), fields.get("Description", ""))
            found[name] = Package(name, source_of(fields), frozenset(tags), text)
    return [found[name] for name in sorted(found)]


def source_of(fields):
    """The source package, without the version that may follow in brackets."""
    return fields.get("Source", fields["Package"]).split()[0]


def expand_tags(field):
    """The tags of a Tag field; `a::{b,c}` stands for a::b and a::c, and what ends in TODO is dropped."""
    tags = []
    for tag in re.findall(r"(?:\{[^}]*\}|[^,\s])+", field):
        begin, brace, rest = tag.partition("{")
        endings = re.split(r",\s*", rest.partition("}")[0]) if brace else [""]
        tags += [begin + ending.strip() for ending in endings]
    return [tag for tag in tags if not tag.endswith(":TODO")]


def keep_common_tags(packages):
    """Drop tags that fewer than MIN_PACKAGES carry, then packages without a tag."""
    carried = Counter(tag for package in packages for tag in package.tags)
    common = {tag for tag, count in carried.items() if count >= MIN_PACKAGES}
    kept = [package._replace(tags=package.tags & common) for package in packages]
    return [package for package in kept if package.tags], sorted(common)


def split_by_source(packages, rng):
    """(train, test): TEST_SHARE of the sources, with all their packages, are the test side."""
    sources = sorted({package.source for package in packages})
    chosen = rng.permutation(len(sources))[: round(TEST_SHARE * len(sources))]
    held_out = {sources[i] for i in chosen}
    sides = ([], [])
    for package in packages:
        sides[package.source in held_out].append(package)
    return sides


# ---- arrays ----


def encode(train, test, tags):
    """The arrays of the file: CSR rows of word counts and of tags, and the names of all ids."""
    vectorizer = CountVectorizer(
        stop_words="english", min_df=MIN_DOCUMENTS, max_features=MAX_WORDS, token_pattern=WORD
    )
    vectorizer.fit(package.text for package in train)
    tag_ids = {tag: i for i, tag in enumerate(tags)}
    arrays = {"words": encode_names(vectorizer.get_feature_names_out()), "tags": encode_names(tags)}
    for side, packages in (("train", train), ("test", test)):
        counts = vectorizer.transform(package.text for package in packages)
        worded = np.flatnonzero(np.diff(counts.indptr))
        counts, packages = counts[worded], [packages[i] for i in worded]
        counts.sort_indices()
        carried = [sorted(tag_ids[tag] for tag in package.tags) for package in packages]
        arrays |= {
            f"{side}_packages": encode_names(package.name for package in packages),
            f"{side}_word_ids": counts.indices.astype("<u2"),
            f"{side}_word_counts": np.minimum(counts.data, 255).astype("u1"),
            f"{side}_words_per_row": np.diff(counts.indptr).astype("<u2"),
            f"{side}_tag_ids": np.concatenate(carried).astype("<u2"),
            f"{side}_tags_per_row": np.array([len(ids) for ids in carried], "<u2"),
        }
    return arrays


def encode_names(names):
    return np.frombuffer("\n".join(names).encode("utf-8"), np.uint8)


def write_npz(file, arrays):
    """np.savez_compressed with a fixed date for every member, so that equal arrays are equal bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(member, content.getvalue(), compresslevel=9)


def check_split(train, test):
    """Neither a package nor a source is on both sides."""
    for field in ("name", "source"):
        both = {getattr(p, field) for p in train} & {getattr(p, field) for p in test}
        if both:
            raise RuntimeError(f"the {field}s {sorted(both)[:5]} are on both sides of the split")


def describe(arrays):
    """The counts of the data set, as the README beside it gives them."""
    n_tags, n_words = (arrays[key].tobytes().count(b"\n") + 1 for key in ("tags", "words"))
    seen = len(np.unique(arrays["train_tag_ids"]))
    yield f"| tags | {n_tags:,} ({n_tags - seen} of them in no training package) |"
    yield f"| words | {n_words:,} |"
    for side, name in (("train", "training"), ("test", "test")):
        n = len(arrays[f"{side}_tags_per_row"])
        words, tags = (arrays[f"{side}_{kind}_per_row"].mean() for kind in ("words", "tags"))
        yield f"| {name} packages | {n:,} |"
        yield f"| words, tags per {name} package | {words:.2f}, {tags:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="the file to write")
    parser.add_argument("--codename", default=CODENAME, help="the Debian release (default: %(default)s)")
    parser.add_argument("--any-index", action="store_true", help="accept another index than the pinned one")
    options = parser.parse_args()

    index, translations, provenance = read_index(options.codename, options.any_index)
    packages, tags = keep_common_tags(read_packages(index, translations))
    train, test = split_by_source(packages, np.random.default_rng(SEED))
    check_split(train, test)
    arrays = encode(train, test, tags)
    arrays["provenance"] = encode_names([json.dumps(provenance, indent=1)])
    write_npz(options.out, arrays)
    print(*describe(arrays), sep="\n")
    print(f"{options.out.name}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
