"""The local provider replies as its script says, and keeps what it was asked to the byte."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import closing
from typing import Any

import pytest

from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Reply
from tests.fakes.model_server import Asked, ModelServer
from tests.models.questions import GOOD

BODY = b'{"model": "m",  "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}'


def post(server: ModelServer, path: str = "/v1/chat/completions") -> tuple[int, dict[str, Any]]:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    with closing(http.client.HTTPConnection(host, timeout=30)) as connection:
        connection.request("POST", path, BODY, {"X-Asker": "Me"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_replies_come_in_their_order_and_the_last_one_stays() -> None:
    with ModelServer([replies.failing(503), replies.answer("a"), replies.answer("b")]) as server:
        assert [post(server)[0] for _ in range(4)] == [503, 200, 200, 200]
        assert post(server)[1]["choices"][0]["message"]["content"] == "b"
    assert len(server.asked) == 5


def test_requests_are_kept_to_the_byte_and_can_be_read() -> None:
    with ModelServer([replies.answer("a")]) as server:
        post(server)
    (asked,) = server.asked
    assert (asked.body, asked.path, asked.headers["x-asker"]) == (
        BODY,
        "/v1/chat/completions",
        "Me",
    )
    assert (asked.said, asked.content) == ([("user", "hello")], "hello")


def test_a_script_may_make_its_reply_of_the_request() -> None:
    def echo(asked: Asked) -> Reply:
        return replies.answer({"heard": asked.content})

    with ModelServer(echo) as server:
        assert json.loads(post(server)[1]["choices"][0]["message"]["content"]) == {"heard": "hello"}


def test_both_protocols_are_spoken() -> None:
    with ModelServer([replies.answer(GOOD), replies.refusal()]) as server:
        (message,) = post(server, "/v1/responses")[1]["output"]
        assert json.loads(message["content"][0]["text"]) == GOOD
        assert post(server)[1]["choices"][0]["message"]["refusal"]


def test_an_error_quotes_what_was_sent_as_the_worst_providers_do() -> None:
    with ModelServer([replies.unauthorized()]) as server:
        status, said = post(server)
    assert status == 401 and "hello" in said["error"]["message"]


def test_half_an_answer_is_half_an_answer() -> None:
    with (
        ModelServer([replies.closing_half_way(GOOD)]) as server,
        pytest.raises(http.client.IncompleteRead),
    ):
        post(server)


@pytest.mark.parametrize(
    "reply", [replies.silent(), replies.dripping(GOOD, 0.001)], ids=["silent", "drip"]
)
def test_a_client_that_waits_is_let_go_when_the_server_closes(reply: Reply) -> None:
    ends: list[type[Exception] | None] = []

    def wait() -> None:
        try:
            post(server)
            ends.append(None)
        except (OSError, http.client.HTTPException) as exc:
            ends.append(type(exc))

    with ModelServer([reply]) as server:
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert server.until(asked=1)
    waiting.join(30)
    assert len(ends) == 1
