"""SYS030 and up: settings, and what `--since` reads from git."""

from specc.diagnostics.codes import Code


def codes() -> list[Code]:
    return [
        Code("SYS030", "settings that cannot be read", "specc.toml or pyproject.toml is no readable TOML file."),
        Code(
            "SYS031",
            "a setting that means nothing",
            "`[tool.specc]` holds `select`, `ignore`, `per-file-ignores`, `exclude` and `strict`. Codes are those of this list, or"
            " beginnings of them, and what a spec says wrongly cannot be ignored.",
        ),
        Code("SYS032", "no such revision", "`--since` takes a commit, branch or tag of the git repository that holds the specs."),
        Code("SYS033", "an option without effect", "The option belongs to another use of the command, and would change nothing here."),
    ]
