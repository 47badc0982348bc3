"""The estimate of tokens, held against counts of a real vocabulary (30,000 pieces, English above
all).
"""

from __future__ import annotations

import itertools

import pytest

from memoranda.text.token_count import estimate

#: Text, and the pieces that the vocabulary of all-MiniLM-L6-v2 makes of it.
COUNTED = {
    "English": (
        (
            "Ana moved to Lisbon in May, and she would rather fly after nine in the morning. She is all"
            "ergic to walnuts, so please check what the airline serves before you book. Her sister visi"
            "ts every other Sunday; they like to hike along the coast when the weather holds, and they "
            "never go without the dog."
        ),
        63,
    ),
    "German": (
        (
            "Am Dienstag hat sie den Umzugswagen bestellt, obwohl die Wohnungsgenossenschaft noch keine"
            " Bestätigung geschickt hatte. Die Geschwindigkeitsbegrenzung auf der Umgehungsstraße gilt "
            "erst ab Mitternacht, und die Krankenversicherungsbeiträge werden rückwirkend angepasst. Bi"
            "tte denken Sie daran, dass Frau Müller keine Haselnüsse verträgt."
        ),
        120,
    ),
    "German notes": (
        (
            "Der Kunde bevorzugt metrische Einheiten und möchte ausschließlich Rechnungen per E-Mail er"
            "halten. Seine Tochter heißt Friederike und besucht das Gymnasium in Tübingen. Lieferung ve"
            "rspätet sich wegen Streiks bei der Deutschen Bahn; Ersatzteile werden voraussichtlich näch"
            "ste Woche eintreffen. Datenschutzgrundverordnung beachten!"
        ),
        109,
    ),
    "Chinese": (
        "她住在上海,去年三月搬到杭州工作。她对花生过敏,不喜欢早起,周末常常和朋友去爬山。请记住:会议改到星期四下午三点,地点在二楼的会议室。",
        67,
    ),
    "Japanese": (
        "彼女は去年の三月に東京へ引っ越しました。ピーナッツアレルギーがあります。会議は木曜日の午後三時に変更されました。",
        56,
    ),
    "Russian": (
        (
            "Она переехала в Москву в марте прошлого года. У неё аллергия на арахис. Встреча перенесена"
            " на четверг."
        ),
        83,
    ),
    "Spanish": (
        (
            "Se mudó a Lisboa en marzo del año pasado. Es alérgica a las nueces y prefiere vuelos despu"
            "és de las nueve de la mañana."
        ),
        44,
    ),
    "Python": (
        (
            'def share(budget: int, needs: Mapping[str, int]) -> dict[str, int]:\n    """What each block'
            ' may take."""\n    if sum(needs.values()) <= budget:\n        return dict(needs)\n    for blo'
            "ck in wanting:\n        grants[block] = needs[block] * weight // total\n    return grants | "
            "{block: 0 for block in self._left_over}\n"
        ),
        95,
    ),
    "JSON": (
        (
            '{"name": "Ana Sousa", "interests": ["chess", "hiking"], "orders": [{"id": "8842-XK447", "t'
            'otal": 1048.5, "paid": true}], "updated": "2026-03-02T09:00:00Z"}'
        ),
        82,
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_the_estimate_counts_rather_more_than_fewer(name: str) -> None:
    text, tokens = COUNTED[name]
    assert 0.97 * tokens <= estimate(text) <= 1.35 * tokens


def test_nothing_takes_nothing() -> None:
    assert estimate("") == 0


def test_a_longer_text_never_counts_less() -> None:
    text = (
        "Der Kunde bevorzugt metrische Einheiten. 会议改到星期四。 for i in range(10): pass 👩‍👩‍👧"
    )
    # Of one language throughout: what language it is, is told by the whole.
    counts = [estimate(text[:end] + " der die und nicht") for end in range(len(text) + 1)]
    assert all(later >= earlier - 1 for earlier, later in itertools.pairwise(counts))


def test_a_word_without_end_is_counted_by_its_letters() -> None:
    assert estimate("a" * 10_000) >= 1900
