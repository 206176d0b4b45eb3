"""Runs the steps of a workflow, and of the action that it uses, as a runner would: bash, a step at a time, until one fails."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.ci.repository import BIN, Repository

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
SHIM = """\
#!/usr/bin/env bash
if [ "$1 $2 $3" = "-m pip install" ]; then echo "${{*:4}}" >> "{log}"; exit 0; fi
exec "{python}" "$@"
"""


@dataclass
class Runner:
    """What a runner offers to steps. pip installs nothing: what is installed here stands in, and what was asked for is noted."""

    repository: Repository
    place: Path
    said: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place.mkdir()
        self.summary = self.place / "summary.md"
        shim = self.place / "bin" / "python"
        shim.parent.mkdir()
        shim.write_text(SHIM.format(log=self.place / "pip.log", python=BIN / "python"))
        shim.chmod(0o755)

    @property
    def installed(self) -> list[str]:
        log = self.place / "pip.log"
        return log.read_text().splitlines() if log.exists() else []

    def workflow(self, text: str) -> int:
        """The status of the first step that fails, else 0."""
        (job,) = yaml.safe_load(text)["jobs"].values()
        return self._steps(job["steps"], {})

    def action(self, given: dict[str, Any]) -> int:
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        assert given.keys() <= action["inputs"].keys()
        inputs = {name: str(given.get(name, what["default"])) for name, what in action["inputs"].items()}
        return self._steps(action["runs"]["steps"], {f"inputs.{name}": value for name, value in inputs.items()})

    def _steps(self, steps: list[dict[str, Any]], values: dict[str, str]) -> int:
        values = {"github.action_path": str(ROOT), "github.sha": "0" * 40} | values
        for step in steps:
            if "if" in step and not self._holds(step["if"], values):
                continue
            if "uses" in step:
                status = self.action(step.get("with", {})) if step["uses"].startswith("OWNER/specc@") else 0
                self.done.append(step["uses"])
            else:
                status = self._run(step, values)
            if status:
                return status
        return 0

    def _holds(self, condition: str, values: dict[str, str]) -> bool:
        name, _, wanted = condition.partition(" != ")
        return values[name] != wanted.strip("'")

    def _run(self, step: dict[str, Any], values: dict[str, str]) -> int:
        script = self.place / "step.sh"
        script.write_text(step["run"])
        more = {name: EXPRESSION.sub(lambda m: values[m[1]], str(value)) for name, value in step.get("env", {}).items()}
        more |= {"GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_WORKSPACE": str(self.repository.folder)}
        assert not EXPRESSION.search(step["run"]), "what a user gives is never part of a script"
        path = f"{self.place / 'bin'}:{BIN}:/usr/local/bin:/usr/bin:/bin"
        done = self.repository.run("bash", "--noprofile", "--norc", "-eo", "pipefail", str(script), PATH=path, **more)
        self.said.append(done.stdout + done.stderr)
        self.done.append(step.get("name", step["run"]))
        return done.returncode
