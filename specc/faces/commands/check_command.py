"""`specc check SPEC...`: every finding of every file, whether the models' checks hold, and what lint rules say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specc.diagnostics.formats import Group
    from specc.tools.lint.run import Examined
    from specc.tools.settings import Settings


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="spec files, or folders that hold some")
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="turn rules on: codes or their beginnings, by commas")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="turn warnings and checks off")
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")
    parser.add_argument("--fix", action="store_true", help="rename misspelt fields, remove ignores of no use")
    parser.add_argument("--statistics", action="store_true", help="print how often each code was found instead")
    parser.add_argument("--watch", action="store_true", help="check again whenever a spec or a setting changes")
    parser.add_argument("--config", metavar="FILE", help="settings of this file for all specs, instead of the nearest")
    parser.add_argument("--locked", action="store_true", help="hold the specs against specc.lock as well")
    parser.add_argument("--force-exclude", action="store_true", help="leave excluded files out even where they are named")


def run(options: argparse.Namespace) -> int:
    if not options.watch:
        return _check(options)
    from specc.faces.watch import watch

    return watch(lambda: _check(options), options.specs, options.config)


def _check(options: argparse.Namespace) -> int:
    import gc

    from specc.tools.lint.discover import discover

    gc.set_threshold(50_000, 20, 20)  # a syntax tree has no circles, and looking for them takes a third of the time
    settings = _settings(options)
    examined, fixed = _examined(discover(options.specs, settings, options.force_exclude), settings, options)
    groups = _groups(examined, settings, options.strict)
    if options.locked:
        from specc.tools.lock_check import group

        groups.append(group(options.specs, [one.path for one in examined]))
    found = [d for group in groups for d in group.found]
    errors = [d for d in found if d.severity == "error"]
    if options.statistics:
        from specc.faces.statistics import statistics

        print(statistics(found, options.format))
    else:
        _print(groups, options.format)
    if fixed and options.format == "text":
        print(f"{_count(fixed, 'finding')} fixed")
    if any(d.code.startswith("SYS") for d in errors):
        return 2
    if options.format == "text" and not errors and not options.statistics:
        models = sum(one.models for one in examined)
        adapters = sum(one.adapters for one in examined)
        counted = " and ".join([_count(models, "model")] * bool(models or not adapters) + [_count(adapters, "adapter")] * bool(adapters))
        print(f"{counted} checked, {_count(len(found), 'warning') if found else 'nothing wrong'}")
    return 1 if errors else 0


def _settings(options: argparse.Namespace) -> Callable[[Path], Settings]:
    """What holds for a file, the command line's codes on top."""
    from specc.tools.settings import Choice, Settings, settings_for

    over = Choice()
    if options.select or options.ignore:
        from specc.tools.settings_file import choice_of

        over = choice_of(_codes(options.select), _codes(options.ignore))
    if options.config is not None:
        from specc.tools.settings_file import read_settings

        given = replace(read_settings(Path(options.config)) or Settings(Path(options.config).resolve().parent), over=over)
        return lambda path: given
    return (lambda path: replace(settings_for(path), over=over)) if over.select or over.ignore else settings_for


def _codes(given: list[str]) -> list[str]:
    return [code.strip() for word in given for code in word.split(",") if code.strip()]


def _examined(paths: list[Path], settings: Callable[[Path], Settings], options: argparse.Namespace) -> tuple[list[Examined], int]:
    if not options.fix:
        from specc.tools.lint.run import Examiner

        return Examiner(settings).examine(paths), 0
    from specc.tools.lint.fix import fix
    from specc.tools.output import write_whole

    return fix(paths, settings, write_whole)


def _groups(examined: list[Examined], settings: Callable[[Path], Settings], strict: bool) -> list[Group]:
    from specc.diagnostics.formats import Group

    groups = []
    for one in examined:
        firm = one.found and (strict or settings(one.path).strict)
        groups.append(Group(str(one.path), tuple(replace(d, severity="error") if firm else d for d in one.found)))
    return groups


def _print(groups: list[Group], format: str) -> None:
    """Findings for people go to stderr, those for programs to stdout."""
    if format == "text" and not any(group.found for group in groups):
        return
    from specc.diagnostics.formats import render

    text = render(format, groups)
    if text:
        print(text, file=sys.stderr if format == "text" else sys.stdout)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
