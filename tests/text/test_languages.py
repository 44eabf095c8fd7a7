"""Stems by language, languages by their function words, and one pass that serves names and rows."""

import threading

import numpy as np
import pytest

from mlgt.text import Analyzer, check_languages, learn_features, stemmer
from mlgt.text.analysis import find_words
from mlgt.text.function_words import FUNCTION_WORDS
from mlgt.text.languages import CODES, LANGUAGES, guess, guess_languages

RIGHTS = {
    "english": "All human beings are born free and equal in dignity and "
    "rights, and the law is for all of them",
    "finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina; heille "
    "on annettu järki, mutta myös omatunto",
    "swedish": "Alla människor är födda fria och lika i värde och "
    "rättigheter. De har utrustats med förnuft",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten "
    "geboren. Sie sind mit Vernunft begabt",
    "french": "Tous les êtres humains naissent libres et égaux en dignité "
    "et en droits. Ils sont doués de raison",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad "
    "y derechos, dotados como están de razón",
    "italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità "
    "e diritti. Essi sono dotati di ragione",
    "russian": "Все люди рождаются свободными и равными в своем достоинстве и правах",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága "
    "van, hogy az ember nem csak egy szám",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है",
    "arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وعليهم أن يعامل بعضهم بعضا",
}


def test_every_language_has_a_stemmer_and_function_words():
    assert FUNCTION_WORDS.keys() == set(LANGUAGES)
    for code, language in CODES.items():
        assert check_languages(code) == check_languages(language.upper()) == (language,)
        assert stemmer(code)("abc")


def test_stems_replace_words_in_place():
    text = "Running CATS, C++ and the runner's cat"
    words, stems = find_words([text, "", "cats"]), Analyzer.of("en").words([text, "", "cats"])
    assert stems.strings() == "run cat c++ and the runner s cat cat".split()
    assert [stemmer("english")(word) for word in words.strings()] == stems.strings()
    for name in ("indptr", "text", "text_starts", "text_ends"):
        np.testing.assert_array_equal(getattr(words, name), getattr(stems, name))
    assert stems.hashes[1] == stems.hashes[-1] == find_words(["cat"]).hashes[0]


def test_a_name_is_a_run_of_the_hashes_of_a_text():
    analyzer = Analyzer.of("en")
    words = analyzer.words(["Histories of cats and dogs", "the feeding of horses"])
    name = analyzer.for_names().words(["feed horse"]).hashes
    own = words.hashes[words.indptr[1] :]
    assert [np.flatnonzero(own == one).tolist() for one in name] == [[1], [3]]
    texts = ["Histories of cats and dogs", "the feeding of horses"]
    before = words.indptr.copy()
    features, X = learn_features(texts, analyzer=analyzer)
    assert (features.rows(words) != X).nnz == 0
    np.testing.assert_array_equal(words.indptr, before)


def test_names_have_one_language():
    texts = Analyzer.of(["fi", "en"])
    assert texts.for_names().languages == texts.for_names("sv").languages == ("finnish",)
    assert texts.for_names("en-GB") == Analyzer.of("english")
    assert texts.for_names("zh") == texts.for_names()
    assert Analyzer().for_names("en") == Analyzer()


def test_stems_are_the_terms_of_rows_spans_and_hashes():
    features, _ = learn_features(["cats run", "a cat", "dogs"], words=2, analyzer=Analyzer.of("english", 8))
    assert features.parts[0].terms == ["a", "a cat", "cat", "cat run", "dog", "run"]
    text = "Running Cats"
    found = [(text[i:j], features.parts[0].terms[column]) for i, j, column in features.spans(text)]
    assert found == [("Running", "run")]  # Cats stands after the eighth character
    assert features.terms_of("the cats") == {2: "cat"}
    hashed, _ = learn_features(["cats run"], analyzer=Analyzer.of("en"), hashing=1 << 18)
    unstemmed, _ = learn_features(["cat run"], hashing=1 << 18)
    assert hashed(["cats running"]).indices.tolist() == unstemmed(["cat run"]).indices.tolist()


def test_characters_are_those_of_the_text_not_of_stems():
    features, _ = learn_features(["running"], words=0, characters=(3, 3), analyzer=Analyzer.of("en"))
    assert "ing" in features.parts[0].terms


def test_texts_have_the_language_of_their_function_words():
    words = find_words(RIGHTS.values())
    assert [tuple(RIGHTS)[i] for i in guess(words, tuple(RIGHTS))] == list(RIGHTS)
    assert guess(find_words(["", "42", "中文"]), LANGUAGES).tolist() == [-1, -1, -1]
    for language, text in RIGHTS.items():
        assert next(iter(guess_languages([text] * 3))) == language


def test_each_text_of_a_mixture_is_stemmed_by_its_own_language():
    texts = [RIGHTS["english"]] * 6 + [RIGHTS["finnish"]] * 3 + [RIGHTS["swedish"]]
    analyzer = Analyzer.of("auto", texts=[*texts, "42"])
    assert analyzer.languages == ("english", "finnish", "swedish")
    assert str(analyzer).startswith("english (55% of the texts), finnish (27%")
    for i, language in ((0, "english"), (6, "finnish"), (9, "swedish")):
        assert (
            analyzer.words(texts[i : i + 1]).strings() == Analyzer.of(language).words([texts[i]]).strings()
        )
    together = analyzer.words(texts)
    alone = [stem for text in texts for stem in analyzer.words([text]).strings()]
    assert together.strings() == alone
    assert analyzer.words(["humans"]).strings() == ["human"]  # as the most frequent language


def test_unknown_languages_leave_words_as_they_are():
    assert Analyzer.of("auto", texts=["中文沒有空白", "42"]) == Analyzer.of("auto", texts=[]) == Analyzer()


def test_stems_never_depend_on_an_installed_pystemmer():
    assert type(stemmer("dutch").__self__._snowball).__module__ == "snowballstemmer.dutch_stemmer"


@pytest.mark.parametrize("wrong", ["xx", "klingon", ["en", "xx"], 7, [], [None]])
def test_wrong_languages_are_refused(wrong):
    with pytest.raises(ValueError, match=r"language=.*(has no stemmer; expected .*fi \(finnish\)|must be)"):
        check_languages(wrong)


def test_threads_find_the_same_stems():
    texts = [f"{word}ing {word}ed {word}s {i}" for i in range(50) for word in ("walk", "jump", "talk")]
    expected, found = Analyzer.of("en").words(texts).strings(), []
    threads = [
        threading.Thread(target=lambda: found.append(Analyzer.of("en").words(texts).strings()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
