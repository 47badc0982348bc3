"""The options ``--install`` and ``--uninstall`` of ``memoranda mcp``: entries in the files of
coding agents.
"""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from memoranda.cli.service_commands.mcp_commands import mcp_command
from memoranda.errors import InvalidInput

_SHOP = ["--group", "shop", "--audience", "group"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "shop" / "src")
    monkeypatch.delenv("MEMORANDA_BOOK", raising=False)
    return tmp_path / "shop"


def run(*arguments):
    return CliRunner().invoke(mcp_command, arguments, catch_exceptions=False)


def test_an_entry_is_written_beside_what_stands_there_and_taken_back(project):
    before = '{\n  "z": 1,\n  "mcpServers": {\n    "other": {\n      "command": "ä"\n    }\n  },\n  "a": 2\n}\n'
    path = project / ".mcp.json"
    path.write_text(before, encoding="utf-8")
    assert run("--install", "claude-code").exit_code == 0
    held = json.loads(path.read_text(encoding="utf-8"))
    entry = held["mcpServers"]["memoranda"]
    assert list(held) == ["z", "mcpServers", "a"]
    assert entry["args"][2:] == ["mcp", "--agent", "claude-code", *_SHOP]
    assert run("--install", "claude-code").exit_code == 0
    assert run("--uninstall", "claude-code").exit_code == 0
    assert path.read_text(encoding="utf-8") == before


def test_a_file_that_only_has_the_entry_goes_with_it(project):
    run("--install", "cursor")
    assert (project / ".cursor" / "mcp.json").exists()
    run("--uninstall", "cursor")
    assert list((project / ".cursor").iterdir()) == []
    assert "not in" in run("--uninstall", "cursor").output


def test_printing_writes_nothing(project):
    printed = json.loads(run("--install", "cursor", "--print", "--owner", "ann").output)
    assert printed["mcpServers"]["memoranda"]["args"][-2:] == ["--owner", "ann"]
    assert not (project / ".cursor").exists()


@pytest.mark.parametrize(
    "broken",
    [
        '{"a": 1,}',
        '{"mcpServers": {}} // mine',
        '{"mcpServers": {"x": {}}, "mcpServers": {"y": {}}}',
        "[]",
        '{"mcpServers": 3}',
        "{",
        b"\xff\xfe{\x00",
    ],
)
def test_a_broken_file_is_refused_with_the_cure_and_stays(project, broken):
    path = project / ".mcp.json"
    before = broken if isinstance(broken, bytes) else broken.encode()
    path.write_bytes(before)
    with pytest.raises(InvalidInput, match="mend it, or change it by hand"):
        run("--install", "claude-code")
    with pytest.raises(InvalidInput, match="mend it, or change it by hand"):
        run("--uninstall", "claude-code")
    assert path.read_bytes() == before


def arguments(*options):
    """Return the arguments of the entry that these options print."""
    printed = run("--install", "cursor", "--print", *options)
    return json.loads(printed.output)["mcpServers"]["memoranda"]["args"][3:]


def test_an_entry_has_every_option_that_says_whose_memory_it_serves(project):
    options = [
        "--group",
        "a",
        "--group",
        "b",
        "--audience",
        "self",
        "--owner",
        "ann",
        "--admin",
        "--tenant",
        "x",
    ]
    assert arguments("--agent", "mine", *options) == ["--agent", "mine", *options]


def test_an_entry_names_files_from_the_root(project):
    named = arguments("--book", "my book.db", "--config", "memoranda.toml")
    folder = project / "src"
    assert named[-4:] == [
        "--config",
        str(folder / "memoranda.toml"),
        "--book",
        str(folder / "my book.db"),
    ]


def test_a_password_is_written_into_no_file_of_a_project(project):
    with pytest.raises(InvalidInput, match="leave it out") as refused:
        run("--install", "claude-code", "--book", "postgresql://ann:hunter2@host/db")
    assert "hunter2" not in str(refused.value)
    assert not (project / ".mcp.json").exists()


@pytest.mark.parametrize("name", ["mein Café π", 'it\'s "mine"', "-x"])
def test_a_projects_folder_may_have_any_printable_name(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    run("--install", "claude-code")
    held = json.loads((tmp_path / name / ".mcp.json").read_text("utf-8"))
    given = held["mcpServers"]["memoranda"]["args"][3:]
    assert mcp_command.make_context("mcp", list(given)).params["groups"] == (name,)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a\nb"])
def test_a_folder_whose_name_is_no_group_is_refused_with_the_cure(tmp_path, monkeypatch, name):
    place = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(place)
    monkeypatch.chdir(os.fsdecode(place))
    with pytest.raises(InvalidInput, match="name one with --group"):
        run("--install", "claude-code")
    assert os.listdir(place) == []
    assert run("--install", "claude-code", "--group", "cafe").exit_code == 0


def test_the_indent_and_the_line_ends_of_a_file_stay(project):
    before = b'{\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}\r\n'
    path = project / ".mcp.json"
    path.write_bytes(before)
    run("--install", "claude-code")
    assert b'\r\n\t\t"memoranda": {\r\n\t\t\t"command"' in path.read_bytes()
    run("--uninstall", "claude-code")
    assert path.read_bytes() == before


def test_variables_of_an_entry_that_is_written_again_stay(project):
    path = project / ".mcp.json"
    path.write_text(
        '{"mcpServers": {"memoranda": {"command": "old", "env": {"MEMORANDA_KEY": "k"}}}}'
    )
    run("--install", "claude-code")
    entry = json.loads(path.read_text())["mcpServers"]["memoranda"]
    assert entry["env"] == {"MEMORANDA_KEY": "k"}
    assert entry["command"] != "old"


@pytest.mark.parametrize("before", ["", '{"mcpServers": {"x": {}}}'])
def test_a_link_stays_a_link_and_its_file_loses_the_entry(project, before):
    path, target = project / ".mcp.json", project.parent / "mcp.json"
    target.write_text(before)
    path.symlink_to(target)
    run("--install", "claude-code")
    assert "memoranda" in target.read_text()
    run("--uninstall", "claude-code")
    assert path.is_symlink()
    assert "memoranda" not in target.read_text()


@pytest.mark.parametrize("closed", ["shop", ".mcp.json"])
def test_what_may_not_be_written_is_named_and_stays(project, monkeypatch, closed):
    path = project / ".mcp.json"
    path.write_text("{}")
    monkeypatch.setattr(os, "access", lambda place, mode: place.name != closed)
    with pytest.raises(PermissionError, match="nothing was changed") as refused:
        run("--install", "claude-code")
    assert refused.value.filename.endswith(closed)
    assert path.read_text() == "{}"


@pytest.mark.parametrize(
    "options",
    [
        ["--install", "cursor", "--uninstall", "cursor"],
        ["--print"],
        ["--uninstall", "cursor", "--print"],
    ],
)
def test_options_that_exclude_each_other_are_refused(project, options):
    refused = run(*options)
    assert (refused.exit_code, "exclude each other" in refused.output) == (2, True)
