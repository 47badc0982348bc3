"""The proof of MCP's conformance is skipped where its tools cannot be fetched."""

from __future__ import annotations

import shutil

from proofs import mcp_conformance


def test_a_machine_without_npm_skips_the_proof(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert mcp_conformance.run(1, 0) == "skipped: there is no npm on this machine"


def test_a_machine_that_reaches_no_registry_skips_the_proof(monkeypatch, tmp_path):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(npm))
    assert mcp_conformance.run(1, 0) == "skipped: npm could not fetch the packages"
