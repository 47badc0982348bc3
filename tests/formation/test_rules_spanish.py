"""Spanish: what people state of themselves is understood, and what they do not state yields
nothing.
"""

from __future__ import annotations

import pytest

from memoranda.formation.rules import extract


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Me llamo Lucía y vivo en Bilbao.", [("name", "Lucía"), ("home", "Bilbao")]),
        ("Tengo 34 años y dos hijos.", [("age", "34"), ("family", "dos hijos")]),
        ("Soy enfermero en el Hospital Clínic.", [("work", "enfermero en el Hospital Clínic")]),
        ("Soy alérgico a los cacahuetes y al marisco.", [("allergies", "cacahuetes"), ("allergies", "marisco")]),
        ("Mi médico dice que soy alérgico a la penicilina.", [("allergies", "penicilina")]),
        ("Las gambas me dan urticaria.", [("allergies", "gambas")]),
        ("Tengo asma y diabetes.", [("health", "asma"), ("health", "diabetes")]),
        ("Estoy embarazada de cinco meses.", [("health", "embarazada de cinco meses")]),
        ("No como carne ni pescado.", [("diet", "No como carne ni pescado")]),
        ("Me gusta el fútbol y la paella.", [("likes", "fútbol"), ("likes", "paella")]),
        ("No soporto el ruido.", [("dislikes", "ruido")]),
        ("Mi perro Toby tiene miedo a los truenos.", [("pet", "perro Toby")]),
        ("¿Qué le regalo a mi sobrina Ana?", [("family", "sobrina Ana")]),
        ("Mi Ford Fiesta no arranca.", [("possession", "Ford Fiesta")]),
        ("Hablo español, inglés y un poco de alemán.", [("language", "español"), ("language", "inglés"), ("language", "alemán")]),
        ("Nací en Lima pero vivo en Madrid.", [("origin", "Lima"), ("home", "Madrid")]),
        ("Mi cumpleaños es el 3 de mayo.", [("birthday", "3 de mayo")]),
        ("Llámame Pepe.", [("nickname", "Pepe")]),
        ("A partir de ahora usa un tono formal.", [("instruction", "usa un tono formal")]),
        ("Recuerda que el vuelo sale a las 6.", [("remember", "el vuelo sale a las 6")]),
    ],
)  # fmt: skip
def test_a_spanish_statement_is_understood(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.about, one.value) for one in extract(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "¿Soy alérgico si me pica la piel?",
        "Si fuera vegano, ¿qué comería?",
        "Mi jefe dice que soy vago.",
        "Estoy en Madrid hasta el domingo.",
        "Tengo una pregunta.",
        "Me gusta tu respuesta.",
        "Me gustaría tener un perro.",
        "Mi vecino es músico.",
        "Ya no me gusta el sushi.",
        "Escribe una carta: soy María y vivo en Roma.",
        "Traduce: soy alérgica al polen.",
    ],
)
def test_what_is_not_stated_in_spanish_yields_nothing(text: str) -> None:
    assert extract(text) == []
