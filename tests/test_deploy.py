"""The files by which the service is run in containers and under systemd: they are read here, not
run.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memoranda.cli.service_commands.serve_commands import serve_command

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
LOCK = (DEPLOY / "requirements.lock").read_text("utf-8")
#: The extras that the image has.
EXTRAS = ("", "embed", "models", "postgres", "mongodb", "server", "client", "telemetry")
COMPOSE = ("compose.sqlite.yaml", "compose.postgres.yaml", "compose.mongodb.yaml")


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage of the Dockerfile."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    found = [tuple(line.split(maxsplit=1)) for line in lines if line]
    made: list[list[tuple[str, str]]] = []
    for word, rest in found:
        if word == "FROM":
            made.append([])
        if made:
            made[-1].append((word, rest))
    return made


def blocks(text: str) -> dict[str, list[str]]:
    """Return the entries of a lock file by the name of the package."""
    found: dict[str, list[str]] = {}
    for block in re.findall(r"^[\w.-]+.*?==.*?(?=^[\w.-]+|\Z)", text, re.MULTILINE | re.DOTALL):
        found.setdefault(canonicalize_name(re.split(r"[\[=]", block)[0]), []).append(block)
    return found


def test_the_image_copies_what_exists() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    for word, rest in (one for stage in stages() for one in stage):
        if word == "COPY" and not rest.startswith("--from"):
            for source in shlex.split(rest)[:-1]:
                assert (ROOT / source).exists() and f"!{source}" in ignored, source


def test_the_image_runs_as_nobody_in_particular_and_checks_that_it_lives() -> None:
    last = dict(stages()[-1])
    user, _, group = last["USER"].partition(":")
    assert user.isdecimal() and group.isdecimal() and int(user) > 0 and int(group) > 0
    assert f"--uid {user}" in last["RUN"] and f"--gid {group}" in last["RUN"]
    check = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    assert "http://127.0.0.1:7411/livez" in check[-1]
    compile(check[-1], "health check", "exec")
    assert (
        last["STOPSIGNAL"] == "SIGTERM" and last["EXPOSE"] == "7411" and last["VOLUME"] == "/data"
    )


def test_the_image_starts_a_command_that_exists() -> None:
    last = dict(stages()[-1])
    assert json.loads(last["ENTRYPOINT"]) == ["memoranda"]
    command, *options = json.loads(last["CMD"])
    assert command == serve_command.name
    serve_command.make_context("serve", options, resilient_parsing=False).close()


def test_the_image_installs_what_the_lock_file_lists_and_nothing_else() -> None:
    installs = [rest for stage in stages() for word, rest in stage if "pip install" in rest]
    assert all(
        "--require-hashes -r requirements.lock" in one or "--no-deps" in one for one in installs
    )
    whole, own = blocks((ROOT / "requirements-dev.lock").read_text("utf-8")), blocks(LOCK)
    assert {name: whole[name] for name in own} == own
    todo, seen = [("memoranda", extra) for extra in EXTRAS], set()
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for one in map(Requirement, requires(name) or ()):
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(one.name), more) for more in ("", *one.extras)]
    assert {name for name, _ in seen} - {"memoranda"} <= own.keys()


@pytest.mark.parametrize("name", COMPOSE)
def test_a_compose_file_runs_the_image_without_rights(name: str) -> None:
    whole: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text("utf-8"))
    service = whole["services"]["memoranda"]
    assert (
        DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]
    ).resolve() == DEPLOY / "Dockerfile"
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert any(
        place.split(":")[-1] == "/data"
        for place in [*service.get("volumes", ()), *service["tmpfs"]]
    )
    for other in whole["services"].values():
        for place in other.get("volumes", ()):
            source = place.partition(":")[0]
            assert source in whole["volumes"] or (
                source.startswith("./") and (DEPLOY / source).is_file()
            )
        assert set(other.get("depends_on", ())) <= whole["services"].keys()


@pytest.mark.parametrize("name", COMPOSE[1:])
def test_no_password_stands_in_a_compose_file(name: str) -> None:
    text = (DEPLOY / name).read_text("utf-8")
    given = r"(?:PASSWORD: |memoranda:)(?=\S)(?!\$\{(?:POSTGRES|MONGODB|BOOK)_PASSWORD:\?)\S+"
    assert re.findall(given, text) == []


@pytest.mark.parametrize("server", ["postgres", "mongodb"])
def test_the_service_has_the_password_of_an_ordinary_role_and_not_the_administrators(
    server: str,
) -> None:
    whole: dict[str, Any] = yaml.safe_load((DEPLOY / f"compose.{server}.yaml").read_text("utf-8"))
    given = whole["services"][server]["environment"]
    assert "POSTGRES_USER" not in given and "BOOK_PASSWORD" in given["BOOK_PASSWORD"]
    assert f"{server.upper()}_PASSWORD" not in str(whole["services"]["memoranda"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_the_unit_is_valid_and_hardened(tmp_path: Path) -> None:
    unit = tmp_path / "memoranda.service"
    text = (DEPLOY / "memoranda.service").read_text("utf-8")
    unit.write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", text))
    for words in (
        ["verify", "--man=no"],
        ["security", "--offline=yes", "--threshold=25", "--no-pager"],
    ):
        done = subprocess.run(
            ["systemd-analyze", *words, unit], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_says_what_was_not_run() -> None:
    page = (ROOT / "docs" / "guides" / "service.md").read_text("utf-8")
    assert "images were not built" in page and "units were not started" in page
    for path in DEPLOY.iterdir():
        assert path.name in page, path.name
