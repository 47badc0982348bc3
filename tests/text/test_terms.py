"""Tests of terms: a question's words find a text's words in any language and script."""

from __future__ import annotations

import hashlib
import re
import struct
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.text.scripts import folded, pieces
from memoranda.text.stopwords import HANGUL_STOPS, PARTICLES, SPACELESS_STOPS, STOP_WORDS
from memoranda.text.terms import (
    MOST_ALTERNATIVES,
    RULE,
    pack,
    pack_text,
    query_groups,
    term_hash,
    terms_of,
)

SENTENCES = {
    "en": "Yesterday Caroline's children were running through the gardens of their universities and stories",
    "de": "Gestern haben wir die größeren Häuser und Gärten unserer Freunde in Köln besichtigt",
    "fr": "L'année dernière nous avons mangé des pommes délicieuses à l'école avec les élèves",
    "es": "Mañana compraremos los regalos para las niñas y hablaremos con nuestros abuelos del corazón",
    "it": "Ieri abbiamo comprato le mele più belle della città e abbiamo parlato con i bambini",
    "pt": "Ontem comprámos maçãs e falámos com as crianças sobre as informações do coração",
    "nl": "Gisteren hebben wij de huizen en tuinen van onze vrienden met veel plezier bezocht",
    "sv": "Igår besökte vi våra vänners trädgårdar och pratade om barnens sjukdomar och flickorna",
    "da": "I går besøgte vi vores venners haver og talte om børnenes sygdomme og køerne",
    "no": "I går besøkte vi våre venners hager og snakket om barnas sykdommer og hyttene",
    "fi": "Eilen kävimme ystäviemme taloissa ja puhuimme lasten sairauksista puutarhoissamme",
    "hu": "Tegnap meglátogattuk a barátaink házait és beszélgettünk a gyermekek betegségeiről könyvekkel",
    "ro": "Ieri am cumpărat mere pentru copiii noștri și am vorbit despre informațiile școlilor",
    "tr": "Dün arkadaşlarımızın evlerini ziyaret ettik ve çocukların ışıklarından konuştuk",
    "pl": "Wczoraj odwiedziliśmy ogrody naszych przyjaciół i rozmawialiśmy o chorobach dziewczynkami",
    "ru": "Вчера мы купили ёлку и говорили о здоровье детей в больших садах",
    "el": "Χθες αγοράσαμε μήλα για τα παιδιά και μιλήσαμε για τους μεγάλους κήπους",
    "ar": "أمس اشترينا كتابًا جديدًا للأطفال وتحدثنا عن الحدائق الكبيرة في المدينة",
    "fa": "دیروز کتاب‌های تازه‌ای برای بچه‌ها خریدیم و درباره باغ‌های شهر گفتگو کردیم",
    "hi": "कल हमने बच्चों के लिए नई किताबें खरीदीं और बगीचों की बातें कीं",
    "ta": "நேற்று நாங்கள் குழந்தைகளுக்கு புத்தகங்கள் வாங்கினோம்",
    "hy": "Երեկ մենք գնեցինք գրքեր երեխաների համար",
    "he": "אתמול קנינו ספרים חדשים לילדים",
    "ka": "გუშინ ჩვენ ვიყიდეთ წიგნები ბავშვებისთვის",
    "ko": "어제 학교에서 친구를 만나서 집에 갔어요",
    "zh": "昨天 我们 去 颐和园 看 荷花",
    "ja": "昨日 友達と 東京 寺院 ラーメン コンピュータ",
    "th": "เมื่อวาน ฉัน ไปโรงเรียน กับเพื่อน",
}
STOPS = {
    spelling
    for words in (*STOP_WORDS.values(), SPACELESS_STOPS, HANGUL_STOPS, PARTICLES)
    for word in words
    for spelling in (unicodedata.normalize("NFKC", word), folded(word))
}


@pytest.mark.parametrize("word", ["tea", "thé"])
def test_a_sign_that_joins_nothing_stays_out_of_the_word_on_every_python(word: str):
    assert pieces(f"{word}, {word}. {word}: {word}-") == [word] * 4
    assert pieces(f"{word},123, a.{word}. C++.") == [f"{word},123", f"a.{word}", "C++"]


def unpacked(packed: bytes) -> dict[int, int]:
    """Return how often each term occurs, in the order of packing."""
    count = len(packed) // 9
    return dict(
        zip(struct.unpack(f"<{count}Q", packed[: 8 * count]), packed[8 * count :], strict=True)
    )


def holds(text: str, question: str) -> bool:
    """True if any word of the question is among the terms of the text."""
    hashes = unpacked(pack(terms_of(text))).keys()
    return any(not hashes.isdisjoint(group.hashes) for group in query_groups(question))


def holds_all(text: str, question: str) -> bool:
    hashes = unpacked(pack(terms_of(text))).keys()
    groups = query_groups(question)
    return bool(groups) and all(not hashes.isdisjoint(group.hashes) for group in groups)


def says_something(word: str) -> bool:
    """True if a word is more than stop words of any language."""
    seen = unicodedata.normalize("NFKC", word).lower().replace("ʼ", "'")
    said = STOPS.isdisjoint([seen, *re.findall(r"[^\W_]+", seen)])
    return said and SPACELESS_STOPS.isdisjoint(seen) and bool(terms_of(word))


@pytest.mark.parametrize("language", SENTENCES)
def test_every_word_of_a_sentence_is_found_by_itself(language: str) -> None:
    sentence = SENTENCES[language]
    words = [word for word in sentence.split() if says_something(word)]
    assert len(words) >= 3
    assert [word for word in words if not holds(sentence, word)] == []


@pytest.mark.parametrize("language", SENTENCES)
def test_every_word_is_found_in_capitals_and_decomposed(language: str) -> None:
    sentence = SENTENCES[language]
    for word in filter(says_something, sentence.split()):
        assert holds(sentence, word.upper())
        assert holds(sentence, unicodedata.normalize("NFD", word))
        assert holds(unicodedata.normalize("NFD", sentence), word)


@pytest.mark.parametrize(
    "language", ["de", "fr", "es", "it", "pt", "sv", "da", "fi", "hu", "ro", "tr", "pl", "el"]
)
def test_every_word_is_found_without_its_accents(language: str) -> None:
    sentence = SENTENCES[language]
    for word in filter(says_something, sentence.split()):
        bare = "".join(
            part for part in unicodedata.normalize("NFD", word) if not unicodedata.combining(part)
        )
        assert holds(sentence, bare), bare


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("We went hiking with the children", "hikes"),
        ("We went hiking with the children", "Did they hike?"),
        ("We went hiking with the children", "Wann waren wir mit den Kindern hiking?"),
        ("Ich habe gestern die Häuser gesehen", "Haus"),
        ("Ich habe gestern die Häuser gesehen", "welches Haus war es"),
        ("Wir haben die Wanderungen gebucht", "Wanderung"),
        ("Die Straße ist gesperrt", "strasse"),
        ("Nous avons visité les écoles de la ville", "école"),
        ("Las niñas compraron los regalos", "regalo"),
        ("Abbiamo comprato le mele alla signora", "mela"),
        ("Wij hebben de huizen van onze vrienden gezien", "huis"),
        ("Kävimme eilen heidän talossaan ja se oli hyvä", "talo"),
        ("Tegnap a könyvekkel voltam és nem otthon", "könyv"),
        ("Dün bizim evlerimizde kaldılar ve çok güzeldi", "ev"),
        ("Мы купили новые книги и журналы", "книга"),
        ("Мы купили ёлку", "елка"),
        ("Αγοράσαμε τα βιβλία για τα παιδιά", "βιβλίων"),
        ("ΟΔΟΣ", "οδος"),
        ("اشترينا الكتاب", "كتاب"),
        ("हमने किताबें खरीदीं", "किताब"),
        ("Istanbul'da ışıklar", "ISIKLAR"),
        ("İSTANBUL", "istanbul"),
    ],
)
def test_another_form_of_a_word_finds_it(text: str, question: str) -> None:
    assert holds(text, question)


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Ana's café, don’t tell O’Brien", ["ana", "ANA’S", "cafe", "café", "obrien", "o'brien"]),
        (
            "send an e-mail with v1.2 for #8842",
            ["email", "e-mail", "E‑mails", "mail", "v1.2", "v1", "#8842", "8842"],
        ),
        ("C++ and C# beat F#", ["c++", "C#", "c", "F#"]),
        ("write to user@example.org", ["user@example.org", "user", "example", "Example.Org"]),
        (
            "see https://www.example.org/shelf/book-one?page=12",
            [
                "https://www.example.org/shelf/book-one?page=12",
                "example.org/shelf/book-one?page=12",
                "shelf",
                "12",
            ],
        ),
        (
            "it cost 1,000.50 on 2024-05-13 at 12:30",
            ["1000.50", "1,000.50", "2024-05-13", "2024", "12:30"],
        ),
        ("call get_user_name in node.js", ["get_user_name", "user", "node.js", "node"]),
        ("l'amour dell'arte", ["amour", "l'amour", "arte"]),
        ("the end.Next one", ["end", "next"]),
        ("٣ كتب", ["3", "٣"]),
        ("I love it ❤️ 👩‍💻 👍🏽 🇩🇪", ["❤", "💻", "👍", "👍🏿", "🇩🇪"]),
        ("ｆｕｌｌ ｗｉｄｔｈ ﬁnd", ["full width", "find"]),
        ("my soft\u00adhyphen", ["softhyphen"]),
    ],
)
def test_joined_and_dressed_words_are_found_whole_and_in_parts(
    text: str, questions: list[str]
) -> None:
    assert [question for question in questions if not holds_all(text, question)] == []


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("我家的猫叫咪咪，住在上海。", ["猫", "咪咪", "上海", "我的猫叫什么名字"]),
        ("私はコンピュータを買いました", ["コンピュータ", "コンピューター", "ｺﾝﾋﾟｭｰﾀ", "買"]),
        ("ผมชอบกินข้าวผัด", ["ข้าวผัด", "กิน"]),
        ("ខ្ញុំចូលចិត្តបាយ", ["បាយ"]),
        ("친구를 학교에서 만나 집에 갔다", ["학교", "친구", "집", "학교에"]),
        ("Aus 東京 schrieb Ана über iPhone的壳", ["東京", "ана", "iphone", "壳"]),
    ],
)
def test_scripts_without_spaces_are_found_by_what_a_person_would_ask(
    text: str, questions: list[str]
) -> None:
    assert [question for question in questions if not holds(text, question)] == []


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("лаика", "лайка"),
        ("かき", "がき"),
        ("the cat sat", "dog"),
        ("version 3.14", "3.15"),
        ("上海", "海上"),
    ],
)
def test_what_is_another_word_is_not_found(text: str, question: str) -> None:
    assert not holds_all(text, question)


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert terms_of("The cat and the dog") == ["cat", "dog"]
    assert terms_of("Der Hund und die Katze") == ["hund", "katz"]
    assert terms_of("To be or not to be") == ["to", "be", "or", "not", "to", "be"]
    assert [group.word for group in query_groups("Where is the cat?")] == ["cat"]
    assert holds_all("To be or not to be", "to be or not to be")
    assert holds("Don't!", "don’t")
    assert holds("是的", "是的")


def test_a_question_keeps_its_words_as_written_once_each_and_in_order() -> None:
    groups = query_groups("Which Houses did Caroline's house-mate paint, HOUSES or gardens?")
    assert [group.word for group in groups] == [
        "Houses",
        "Caroline",
        "house-mate",
        "mate",
        "paint",
        "gardens",
    ]
    assert all(len(set(group.hashes)) == len(group.hashes) for group in groups)


def test_a_question_that_shows_its_language_asks_for_no_foreign_stems() -> None:
    (clear,) = query_groups("Where did she meet Melissa?")[1:]
    (unclear,) = query_groups("Melissa")
    assert term_hash("mel") in unclear.hashes
    assert clear.hashes == (term_hash("melissa"),)


def test_the_likeliest_alternative_comes_first() -> None:
    assert query_groups("hiking")[0].hashes[0] == term_hash("hike")
    assert query_groups("Wo haben wir die Häuser gesehen?")[0].hashes[0] == term_hash("haus")


@pytest.mark.parametrize("text", ["", " \n\t", "!!! ... ---", "\0", "\ud800\udfff", "\u200b\u0301"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms_of(text) == []
    assert query_groups(text) == ()
    assert pack(terms_of(text)) == b""


def test_packed_terms_are_sorted_hashes_and_counts_that_saturate() -> None:
    packed = pack(["dog"] * 300 + ["cat", "cat"])
    found = unpacked(packed)
    assert len(packed) == 18
    assert list(found) == sorted([term_hash("dog"), term_hash("cat")])
    assert found == {term_hash("dog"): 255, term_hash("cat"): 2}


def test_a_hash_is_the_first_eight_bytes_of_blake2b() -> None:
    digest = hashlib.blake2b("café".encode(), digest_size=8).digest()
    assert term_hash("café") == int.from_bytes(digest, "little")
    assert 0 <= term_hash("\ud800") < 2**64


def test_terms_change_only_with_the_rule() -> None:
    digest = hashlib.sha256()
    for sentence in (*SENTENCES.values(), "Do you always ask?"):
        digest.update(pack_text(sentence))
    assert (RULE, digest.hexdigest()[:16]) == (3, "1237455e159f2e91")


@pytest.mark.parametrize(
    "text",
    [
        "a-" * 100_000,
        "a" + "\u0301\u0316" * 100_000,
        "é" * 200_000,
        "é'" * 100_000,
        "x://" * 50_000,
        "1,000" * 40_000,
    ],
    ids=["hyphens", "marks", "one word", "apostrophes", "addresses", "numbers"],
)
def test_texts_made_to_be_slow_are_not(text: str) -> None:
    assert holds(text, text)


def test_long_words_are_compared_by_their_beginning() -> None:
    long = "Donaudampfschifffahrt" * 20
    assert holds(f"see {long} there", long)
    assert all(len(term) <= 64 for term in terms_of(f"{long} https://example.org/{long}"))


def test_threads_make_the_same_terms() -> None:
    texts = [f"{sentence} {number}" for number in range(40) for sentence in SENTENCES.values()]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(terms_of, texts)) == [terms_of(text) for text in texts]


WORDS = sorted(
    {word for sentence in SENTENCES.values() for word in sentence.split() if says_something(word)}
)
ANY_WORD = st.one_of(
    st.sampled_from(WORDS),
    st.text(min_size=1, max_size=12),
    st.text(
        st.characters(categories=("Ll", "Lu", "Lo", "Mn", "Mc", "Nd", "So")), min_size=1, max_size=8
    ),
    st.text("abcdeéñüßıİøΣςяйё0189'’-._@/:+#,%&", min_size=1, max_size=12),
)


@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from(sorted(SENTENCES)), st.lists(ANY_WORD, min_size=1, max_size=4), st.booleans()
)
def test_every_word_of_any_text_is_found_by_itself(
    language: str, words: list[str], within: bool
) -> None:
    text = " ".join([SENTENCES[language], *words] if within else words)
    assert [word for word in filter(says_something, text.split()) if not holds(text, word)] == []


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=40), ANY_WORD))
def test_alternatives_are_few_and_distinct(question: str) -> None:
    groups = query_groups(question)
    assert all(
        1 <= len(group.hashes) == len(set(group.hashes)) <= MOST_ALTERNATIVES for group in groups
    )
    assert len(groups) == len({group.hashes for group in groups})


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(max_size=6), max_size=30))
def test_packing_keeps_every_term_and_its_count(terms: list[str]) -> None:
    packed = pack(terms)
    found = unpacked(packed)
    assert len(packed) == 9 * len(set(terms))
    assert list(found) == sorted(found)
    assert found == {term_hash(term): terms.count(term) for term in terms}
