"""Texts as rows: what scikit-learn would make of them, in any language, and the same from a folder."""

import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from mlgt._core.errors import MLGTError
from mlgt.text import Analyzer, TextFeatures, analysis, analyzer, learn_features
from mlgt.text.analysis import normal_form
from mlgt.text.runs import term_stream
from mlgt.text.spans import source_of_characters
from mlgt.text.table import TermTable
from references import terms as reference

TEXTS = ["the cat sat on the mat", "a dog, a cat!", "", "Dogs and CATS and dogs", "42 dogs"]

SCRIPTS = [
    "The cat sat; the CAT'S mat_2 is 3.5 m",
    "C++, C# and c+b ++ #1 a+#+b",
    "हिन्दी भाषा में लिखा हुआ",
    "ภาษาไทยไม่มีช่องว่าง ที่นี่",
    "می\u200cخواهم کتاب\u200cها",
    "Die Straße und die STRASSE, Größe",
    "🙂 smile👩\u200d🔬x 🇫🇮",
    "e\u0301te\u0301 \u0301 x\u0301\u0323",
    "half \ud800 a\udfffb",
    "ﬁt Ａ１ ㎏ İstanbul ŉ ǅ",
    "",
    "  \t\n",
    "中文沒有空白",
    "각 각 ㅋ",
    "x" * 300 + " y",
    "a\x00b\x1cc\u2028d\u3000e",
    "ΣΊΣΥΦΟΣ ᾳ",
    "ｶﾞﾊﾟ ½ ² _a_ __",
]
KINDS = [("words", 1, 1), ("words", 1, 3), ("characters", 1, 2), ("characters", 3, 5), ("characters", 4, 4)]


def terms(*texts, **options):
    return learn_features(texts, **options)[0].parts[0].terms


@pytest.mark.parametrize("options", [{}, {"min_df": 2}, {"words": 2}, {"max_features": 1}])
def test_the_values_are_scikit_learns_tf_idf(options):
    _, X = learn_features(TEXTS, **options)
    words = options.pop("words", 1)
    theirs = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+", ngram_range=(1, words), **options)
    np.testing.assert_allclose(X.toarray(), theirs.fit_transform(TEXTS).toarray(), rtol=1e-6)


def as_options(of, shortest, longest):
    return {"words": longest} if of == "words" else {"words": 0, "characters": (shortest, longest)}


def assert_same(A, B):
    assert A.shape == B.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(A, name), getattr(B, name))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"min_df": 2}, {"max_features": 9}, {"width": 50}, {"width": 1 << 18}]
)
def test_bits_are_those_of_scikit_learns_vectorisers(kind, options, monkeypatch):
    """Terms, their order, idf and rows, also when texts come in many blocks."""
    monkeypatch.setattr(analyzer, "BLOCK_CHARACTERS", 60)
    texts = [*SCRIPTS, *SCRIPTS[::2], " ".join(SCRIPTS)]
    expected_terms, idf, X, rows = reference.learn(texts, *kind, **options)
    own = {"hashing" if name == "width" else name: value for name, value in options.items()}
    features, found = learn_features(texts, **as_options(*kind), **own)
    if "max_features" not in options:  # scikit-learn breaks ties as the sort of the machine does
        assert features.parts[0].terms == expected_terms
        np.testing.assert_array_equal(features.parts[0].idf, idf)
        assert_same(found, X)
        assert_same(features(SCRIPTS[::-1]), rows(SCRIPTS[::-1]))
    assert len(features.parts[0].terms or ()) == len(expected_terms or ())


def test_ties_of_max_features_go_to_the_first_in_the_alphabet():
    assert terms("d d c b a", max_features=3) == ["a", "b", "d"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
@example(["a" * 70000 + " b", ""])
def test_words_and_runs_of_any_text_are_those_of_scikit_learn(texts):
    words = Analyzer().words(texts)
    for kind in KINDS:
        stream = term_stream(*kind, words)
        analyse = reference.analyser(*kind)
        strings = stream.strings()
        for i, text in enumerate(texts):
            assert sorted(strings[stream.indptr[i] : stream.indptr[i + 1]]) == sorted(analyse(text))


@settings(max_examples=300, deadline=None)
@given(st.text())
@example("e\u0301\u0323 ﬁ ŉ ｶﾞ \u1112\u1161\u11ab \ud800")
def test_clusters_have_the_normal_form_of_the_text(text):
    """Where each character of the normal form comes from; also of characters that join."""
    source = source_of_characters(text)
    assert len(source) == len(normal_form(text))
    for start, end in {*map(tuple, source.tolist())}:
        assert normal_form(text[start:end]) in normal_form(text)
    clusters = sorted({*map(tuple, source.tolist())})
    assert "".join(normal_form(text[start:end]) for start, end in clusters) == normal_form(text)


def test_all_that_unicode_joins_begins_no_cluster():
    for point in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            pair = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", pair) != pair:
                assert len({*map(tuple, source_of_characters(pair).tolist())}) == 1, hex(point)


def test_spans_lead_back_to_the_text_as_it_was_written():
    text = "The Cafe\u0301 of STRASSE: ﬁsh & C++ — cafe\u0301 \ud800fish"
    features, _ = learn_features(["café straße fish c++ the café of"], words=2)
    found = {}
    for start, end, column in features.spans(text):
        found.setdefault(features.parts[0].terms[column], []).append(text[start:end])
    assert found["café"] == ["Cafe\u0301", "cafe\u0301"]
    assert found["strasse"] == ["STRASSE"]
    assert found["fish"] == ["ﬁsh", "fish"]
    assert found["the café"] == ["The Cafe\u0301"]
    assert found["fish c++"] == ["ﬁsh & C++"]
    assert {column for *_, column in features.spans(text)} == set(features([text]).indices.tolist())


def test_spans_of_characters_leave_out_the_blanks():
    features, _ = learn_features(["straße"], words=0, characters=(3, 4))
    text = "Auf der Straße"
    found = {features.parts[0].terms[column]: text[i:j] for i, j, column in features.spans(text)}
    assert found[" st"] == "St"
    assert found["ass"] == "aß"
    assert found["sse "] == "ße"


def test_terms_of_one_hash_stay_apart(monkeypatch):
    """Every term in one slot: bytes decide."""
    monkeypatch.setattr(analysis._kernels, "hash_terms", lambda data, starts, ends, hashes: hashes.fill(7))
    features, X = learn_features(TEXTS)
    again = TextFeatures(features.parts)(TEXTS)
    monkeypatch.undo()
    _, expected = learn_features(TEXTS)
    assert_same(X, expected)
    assert_same(again, expected)


def test_a_table_grows_with_its_terms():
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(0, 5000, 50))) for _ in range(400)]
    table = TermTable()
    for words in map(Analyzer().words, (texts[:200], texts[200:])):
        columns = table.learn(words)
        assert [term.decode() for term in table.strings(columns)] == words.strings()
    assert len(table) == len({word for text in texts for word in text.split()})
    assert table.columns(Analyzer().words(["7 unheard"])).tolist()[1] == -1


def test_texts_become_rows_without_scikit_learn():
    code = (
        "import sys; from mlgt.text import learn_features; "
        "f, X = learn_features(['a b', 'ä'], characters=(1, 2)); f(['a']); "
        "f.terms_of('a'); f.spans('a'); print('sklearn' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


def test_words_of_any_script_stay_whole():
    assert terms("हिन्दी भाषा") == ["भाषा", "हिन्दी"]
    assert terms("می\u200cخواهم") == ["می\u200cخواهم"]
    assert terms("naïve d'été") == ["d", "naïve", "été"]
    assert terms("C++, C# and c") == ["and", "c", "c#", "c++"]


def test_what_reads_the_same_is_the_same():
    assert terms("Cafe\u0301 STRASSE ﬁt Ａ") == terms("café straße FIT a")
    assert normal_form("half \ud800 a character") == "half  a character"


def test_characters_stand_beside_words_with_the_same_weight():
    features, X = learn_features(TEXTS, characters=(2, 3))
    words = features.parts[0].n_columns
    squares = X.multiply(X)
    for part in (squares[:, :words], squares[:, words:]):
        np.testing.assert_allclose(part.sum(axis=1), [1, 1, 0, 1, 1], rtol=1e-6)
    assert features.terms_of("xcat")[words + features.parts[1].terms.index("cat")] == "'cat'"


def test_hashed_terms_have_a_column_without_a_list():
    features, X = learn_features(TEXTS, words=2, hashing=1 << 10)
    assert X.shape == (5, 1 << 10)
    row = features(["a new cat sat"])
    assert features.parts[0].terms is None
    found = features.terms_of("a new cat sat")
    assert sorted(found) == sorted(row.indices.tolist())
    assert set(found.values()) == {"a", "new", "cat", "sat", "a new", "new cat", "cat sat"}


@pytest.mark.parametrize("options", [{}, {"characters": (3, 5)}, {"hashing": True}, {"words": 2}])
def test_the_same_rows_from_what_a_folder_holds(options):
    features, X = learn_features(TEXTS, **options)
    again = TextFeatures.from_arrays(features.to_facts(), features.to_arrays(), features.n_features)
    for made in (features(TEXTS), features(iter(TEXTS)), again(TEXTS)):
        assert (made != X).nnz == 0
        assert made.dtype == np.float32


def test_texts_without_words_are_refused():
    with pytest.raises(MLGTError, match=r"no word.*right column"):
        learn_features(["", "!!"])
    with pytest.raises(MLGTError, match="no word that occurs in 2 or more"):
        learn_features(["a", "b"], min_df=2)
    with pytest.raises(MLGTError, match="hold no word"):
        learn_features(["", "!!"], hashing=True)


@given(
    text=st.text(st.characters() | st.characters(max_codepoint=0x310) | st.sampled_from("ab_+# \u2013\xe4"))
)
@example(text="C++x a+#+b ++ #1 _a_")
@example(text="Füße – “a\u2019b” ½ ª İ e\u0301")
def test_a_pattern_finds_the_words_of_plain_texts(text):
    for own in (Analyzer(), Analyzer(max_characters=5)):
        assert own.strings(text) in (None, own.words([text]).strings())


def test_a_pattern_is_for_short_plain_texts_without_stems():
    assert Analyzer().strings("Ca\u0301ts – C++") == ["c\xe1ts", "c++"]
    assert Analyzer().strings("x\u0323\u0301") is None
    assert Analyzer().strings("a" * (analyzer.MAX_PLAIN + 1)) is None
    assert Analyzer.of("english").strings("cats") is None
