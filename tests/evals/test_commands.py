"""The commands of the benchmarks and evaluations say what they measure, and forgetting is measured
on a few records.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from bench import forgetting

_ROOT = Path(__file__).parents[2]
#: These take no options: they start a server at once, or wait for a task.
_WITHOUT_HELP = {
    "bench.bare_endpoint",
    "bench.beside_langgraph",
    "bench.postgres_catching_up",
    "bench.postgres_drivers",
    "bench.service_client",
    "evals.peer_process",
}
_COMMANDS = {
    f"{path.parent.name}.{path.stem}"
    for folder in ("bench", "evals")
    for path in (_ROOT / folder).glob("*.py")
    if "__main__" in path.read_text() and path.stem != "__main__"
} - _WITHOUT_HELP


@pytest.mark.parametrize("name", sorted(_COMMANDS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_command_says_what_it_measures(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "evals.memory_service":
        pytest.importorskip(
            "langchain_core", reason="the framework is not installed: langchain-core"
        )
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_the_time_of_forgetting_is_measured_beside_a_few_memories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["forgetting", "--memories", "12", "--calls", "2"])
    forgetting.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "dry run beside 12 memories",
        "dry run in a book of talks",
        "files entered by one forget",
        "beside five neighbours",
    ]
