"""Terms, counts and TF-IDF rows of texts by scikit-learn's vectorisers and regular expressions."""

import sys
import unicodedata
from functools import cache

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from mlgt._core.sparse import canonical
from mlgt.text.analysis import JOINERS, normal_form
from mlgt.text.tfidf import smooth_idf, tf_idf

MARKS = "".join(chr(i) for i in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "M")
WORD = rf"\w[\w{JOINERS}{MARKS}]*[+#]*"


def counter(of, shortest, longest, width=None, **options):
    """Return scikit-learn's vectoriser of counts, hashed to `width` columns if it is given."""
    options |= {
        "preprocessor": normal_form,
        "token_pattern": WORD if of == "words" else None,
        "analyzer": "word" if of == "words" else "char_wb",
        "ngram_range": (shortest, longest),
    }
    if width is not None:
        return HashingVectorizer(**options, n_features=width, alternate_sign=False, norm=None)
    return CountVectorizer(**options)


@cache
def analyser(of, shortest, longest):
    """Return the function from a text to its terms, with repetitions."""
    return counter(of, shortest, longest).build_analyzer()


def learn(texts, of, shortest, longest, width=None, **options):
    """Return (terms or None, idf, X, function from texts to rows) of one part."""
    own = counter(of, shortest, longest, width, **options)
    counts = canonical(own.fit_transform(texts))
    idf = smooth_idf(counts)
    terms = None if width is not None else own.get_feature_names_out().tolist()
    return terms, idf, tf_idf(counts, idf), lambda new: tf_idf(canonical(own.transform(new)), idf)
