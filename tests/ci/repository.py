"""A git repository in a temporary folder, with one spec in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TINY = Path(__file__).with_name("tiny.specc").read_text()
BIN = Path(sys.executable).parent
IDENTITY = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))}
KEPT = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST_", "COV_", "GITHUB_", "CI"))}
ENVIRONMENT = KEPT | IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": f"{BIN}:{os.environ['PATH']}"}


class Repository:
    """Commands in it get an environment without what a developer's machine sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch", "main")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name: str, *changes: tuple[str, str]) -> None:
        """Replaces what is there; an edit that changes nothing is a mistake of the test."""
        text = (self.folder / name).read_text()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        self.write(name, text)

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command], cwd=self.folder, env=ENVIRONMENT | more, capture_output=True, text=True, timeout=120, check=False)

    def specc(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "specc", *arguments)
