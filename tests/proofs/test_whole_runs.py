"""The record of the proofs' last whole runs: a run counts until what it covers changes."""

import json

from proofs import __main__ as proofs
from tools import checkout


def test_a_whole_run_takes_the_place_of_the_last_one_and_of_no_others(tmp_path):
    file = tmp_path / "runs.json"
    proofs.write_whole_run("kill", "aaa", "kill: seed=1 count=2 ok (1.0 s)", file)
    proofs.write_whole_run("moving", "aaa", "moving: seed=1 count=2 ok (1.0 s)", file)
    proofs.write_whole_run("kill", "bbb", "kill: seed=3 count=2 FAILED lost (1.0 s)", file)
    assert {name: run["commit"] for name, run in json.loads(file.read_text()).items()} == {
        "kill": "bbb",
        "moving": "aaa",
    }


def test_a_run_counts_until_what_it_covers_changes(monkeypatch):
    changed = {"diff": "", "cat-file": "commit", "show": "other = 1"}
    monkeypatch.setattr(checkout, "git", lambda _, word, *__: changed[word])
    run = {"commit": "aaa", "result": "kill: seed=1 count=5000 ok (1.0 s)"}
    assert proofs.why_due("kill", run) is None
    changed["diff"] = "src/memoranda/door.py"
    assert "src/memoranda/door.py" in str(proofs.why_due("kill", run))


def test_a_run_counts_though_what_it_covers_looks_different(monkeypatch, tmp_path):
    code = '"""Does it: one, two."""\nTWO = f(1, 2)  # two\n'
    asked = {"cat-file": "commit", "diff": "one.py", "show": code}
    monkeypatch.setattr(checkout, "git", lambda _, word, *__: asked[word])
    (tmp_path / "one.py").write_text('"""Does it:\n\none,   two."""\nTWO = f(\n    1,\n    2,\n)\n')
    assert checkout.why_old(tmp_path, "aaa", ["one.py"]) == ""
    (tmp_path / "one.py").write_text(code.replace("f(1, 2)", "f(2, 1)"))
    assert "one.py" in checkout.why_old(tmp_path, "aaa", ["one.py"])
    (tmp_path / "one.py").unlink()
    assert "one.py" in checkout.why_old(tmp_path, "aaa", ["one.py"])


def test_no_run_a_failed_one_and_one_of_an_unknown_commit_do_not_count(monkeypatch):
    monkeypatch.setattr(checkout, "git", lambda *_: None)
    assert proofs.why_due("kill", None)
    assert proofs.why_due(
        "kill", {"commit": "aaa", "result": "kill: seed=1 count=5000 FAILED lost (1.0 s)"}
    )
    unknown = {"commit": "aaa and changes", "result": "kill: seed=1 count=5000 ok (1.0 s)"}
    assert "no commit" in str(proofs.why_due("kill", unknown))


def test_every_proof_covers_paths_that_exist():
    folder = proofs.FOLDER.parent
    for name in proofs.names():
        assert all((folder / path).exists() for path in proofs.paths(name)), name
