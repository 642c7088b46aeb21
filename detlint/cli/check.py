"""`detlint check`, and `detlint baseline`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from detlint import formats
from detlint.cli.shell import (
    CONFIG,
    ISOLATED,
    PROFILE,
    TARGET,
    WRONG_USE,
    Ended,
    colour,
    errors,
    fail,
    flush,
    main,
    put,
    show_diff,
    tell,
)
from detlint.visible import encoded, visible
from detlint.visible import line as line_of

if TYPE_CHECKING:
    from detlint.checks.finding import Report
    from detlint.config import Config, Settings
    from detlint.discover import Found
    from detlint.project import Project
    from detlint.since import Changes


def _codes(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str] | None:
    codes = [code.strip().upper() for item in value for code in item.split(",") if code.strip()]
    return codes or None


def _selectors(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from detlint.completion import selectors

    return selectors(incomplete)


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--select",
    multiple=True,
    callback=_codes,
    shell_complete=_selectors,
    metavar="CODES",
    help="Rules to check, by code or prefix, comma-separated. [default: DET]",
)
@click.option(
    "--extend-select",
    multiple=True,
    callback=_codes,
    shell_complete=_selectors,
    metavar="CODES",
    help="Rules to add to those selected.",
)
@click.option(
    "--ignore",
    multiple=True,
    callback=_codes,
    shell_complete=_selectors,
    metavar="CODES",
    help="Rules to leave out.",
)
@click.option(
    "--extend-ignore",
    multiple=True,
    callback=_codes,
    shell_complete=_selectors,
    metavar="CODES",
    help="Rules to leave out, added to those ignored.",
)
@PROFILE
@TARGET
@click.option("--output-format", type=click.Choice([*formats.MODULES]), help="How to print findings. [default: full]")
@click.option(
    "-o",
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report there instead of to standard output.",
)
@click.option("--fix/--no-fix", default=None, help="Repair what can be repaired without changing what is trained.")
@click.option(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="Count fixes that change the training, or what it costs, among those that can be made.",
)
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--fix-only", is_flag=True, default=None, help="Like --fix, without reporting what is left.")
@click.option(
    "--fix-style",
    type=click.Choice(["plain", "runtime"]),
    help="How fixes seed a run: by each library's own call, or by `detlint.runtime.seed_all`, which seeds all of them. "
    "[default: plain]",
)
@click.option("--show-fixes/--no-show-fixes", default=None, help="List what was fixed.")
@click.option(
    "--add-noqa", is_flag=True, help="Write `# noqa: CODE` where something is found, instead of reporting it."
)
@click.option("--show-notes/--no-show-notes", default=None, help="List notes instead of counting them.")
@click.option("--no-fold", is_flag=True, help="Show each finding, also where many have one cause.")
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, instead of the findings.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help="The lowest level that makes the exit code 1. [default: warning]",
)
@click.option("--exit-zero", "-e", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERNS",
    help="Paths to leave out, as in .gitignore, comma-separated; replaces the defaults.",
)
@click.option("--extend-exclude", multiple=True, metavar="PATTERNS", help="Paths to leave out, besides the others.")
@click.option(
    "--force-exclude/--no-force-exclude", default=None, help="Leave out excluded files even when they are named."
)
@click.option(
    "--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what git ignores. [default: on]"
)
@click.option(
    "--stdin-filename",
    type=click.Path(path_type=Path),
    help="The name of the file that is read from standard input (PATH is `-`).",
)
@click.option("--no-cache", "-n", is_flag=True, help="Neither read nor write the cache.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="DETLINT_CACHE_DIR",
    help="Where the cache lives. [default: .detlint_cache in the project's root]",
)
@click.option(
    "--jobs", "-j", type=click.IntRange(min=0), help="Processes to use; 0 means one for each CPU. [default: 0]"
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file with the findings that are accepted. [default: .detlint-baseline.json in the project's root]",
)
@click.option(
    "--diff-base",
    metavar="REV",
    help="Report only what has come in since a git revision: on changed lines, and what a change leads to.",
)
@click.option("--no-baseline", is_flag=True, help="Report what the baseline has, too.")
@click.option("--watch", "-w", is_flag=True, help="Check again whenever a file is saved; Ctrl-C ends.")
@CONFIG
@ISOLATED
@click.option("--show-files", is_flag=True, help="Print the files that would be checked, and stop.")
@click.option("--show-settings", is_flag=True, help="Print the settings in force, and stop.")
@click.option(
    "-v", "--verbose", count=True, help="Say what is done, on standard error; -vv: and how much work that was."
)
def check(paths: tuple[Path, ...], **options: Any) -> None:
    """Check files and folders (default: the current one).

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong use or configuration, or a file that couldn't be written.
    """
    from detlint import counters

    if options["watch"]:
        _watch(paths or (Path(),), options)
    with _no_garbage(), counters.counted() as counted:
        code = _check(paths or (Path(),), options)
        if options["verbose"] > 1:
            for what, number in counted.rows():
                click.echo(f"{what:<24}{number:>16,}", err=True)
        flush()
        raise Ended(code)


def _project(start: Path, overrides: dict[str, Any], options: dict[str, Any]) -> Project:
    from detlint.project import Project

    return Project.of(
        start, overrides, options["config_file"], options["isolated"], not options["no_cache"], options["cache_dir"]
    )


def _check(paths: tuple[Path, ...], options: dict[str, Any]) -> int:
    from detlint.discover import Found, discover

    stdin: dict[str, bytes] = {}
    if Path("-") in paths:
        if options["diff_base"] is not None:
            fail("--diff-base compares files; it can't be combined with `-`")
        if len(paths) > 1:
            fail("`-` reads standard input and can't be combined with other paths")
        paths = (options["stdin_filename"] or Path("stdin.py"),)
        if sys.stdin is None:
            fail("standard input is closed, and `-` reads it")
        stdin = {os.path.abspath(paths[0]): sys.stdin.buffer.read()}
    project = _project(paths[0], _overrides(options), options)
    if options["show_settings"]:
        _show_settings(project.config)
        return 0
    found = Found((str(paths[0]),)) if stdin else discover(paths, project.config)
    if options["show_files"]:
        for file in found.files:
            click.echo(visible(str(file)))
        return 0

    settings = project.config.settings
    changes = _changes(project, found, options) if options["diff_base"] is not None else None

    def checked(texts: Mapping[str, bytes], cache: Path | None = None) -> Report:
        with _Bar() as bar:
            earlier = _before(changes, project, found, paths) if changes is not None else None
            report = project.check(found.files, paths, {**stdin, **texts}, found.problems, bar.advance, cache)
        if changes is not None and earlier is not None:
            from detlint.since import restrict

            restrict(report, changes, earlier)
        return report

    if options["add_noqa"]:
        return _add_noqa(checked, project, bool(stdin))
    if settings.fix or settings.fix_only or options["diff"]:
        return _fix(checked, project, stdin, options)
    report = checked({})
    if options["verbose"]:
        said = (
            f"{report.files} files, {report.lines:,} lines parsed in {report.seconds:.2f} s; "
            f"judged anew: {report.judged}, runs followed anew: {report.followed}; "
            f"{report.suppressed} suppressed, {report.baselined} in the baseline; "
            f"configuration: {project.config.source or 'none'}; root: {project.config.root}; cache: {project.cache or 'off'}"
        )
        click.echo(visible(said), err=True)
    _write(report, project, options)
    return _exit_code(report, settings, options)


@contextlib.contextmanager
def _no_garbage() -> Iterator[None]:
    """What is made meanwhile lives until the end: looking through it for garbage would take longer than much of the rest."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.freeze()
            gc.unfreeze()  # all is old now: else the next object that is made would have all of it looked through
            gc.enable()


def _changes(project: Project, found: Found, options: dict[str, Any]) -> Changes:
    """What has changed since the revision that is asked for."""
    from detlint.since import Changes, NoComparison

    settings = project.config.settings
    if options["diff"] or settings.fix or settings.fix_only:
        fail("--diff-base can't be combined with --fix, --fix-only or --diff")
    try:
        return Changes.since(options["diff_base"], project.config.root.absolute(), found.files)
    except NoComparison as error:
        fail(str(error))


def _before(changes: Changes, project: Project, found: Found, paths: tuple[Path, ...]) -> Report:
    """The program as it was before some changes."""
    texts = changes.texts(project.config.root.absolute(), found.files)
    gone = [Path(path) for path in texts if not os.path.lexists(path)]
    return project.bare().check([*found.files, *gone], paths, texts)


def _watch(paths: tuple[Path, ...], options: dict[str, Any]) -> NoReturn:
    """Check after each change, until the user ends it."""
    from detlint.watch import NoWatcher, changed_files, watch

    if Path("-") in paths:
        fail("--watch needs files; it can't be combined with `-`")

    def check() -> None:
        if sys.stdout.isatty():
            click.clear()
        started = time.perf_counter()
        try:
            with errors():
                _check(paths, options)
        except SystemExit as end:
            if end.code != WRONG_USE:  # a configuration that is being edited may be wrong for a while
                raise
        seconds = time.perf_counter() - started
        gc.collect()  # before the user is told: an interrupt while finalizers run would be lost
        click.echo(f"{time.strftime('%H:%M:%S')}: checked in {seconds:.2f} s; watching for changes.", err=True)

    try:
        watch(check, changed_files(paths, _project(paths[0], _overrides(options), options).config))
    except NoWatcher as error:
        fail(str(error))
    sys.exit()


def _exit_code(report: Report, settings: Settings, options: dict[str, Any]) -> int:
    from detlint.checks.finding import ORDER

    failing = any(ORDER[finding.severity] >= ORDER[settings.fail_on] for finding in report.findings)
    return int(failing and not options["exit_zero"])


def _fix(
    checked: Callable[[Mapping[str, bytes], Path | None], Report],
    project: Project,
    stdin: dict[str, bytes],
    options: dict[str, Any],
) -> int:
    """Fix files, or show what that would change; the exit code."""
    import tempfile

    from detlint.fixes.fixer import fix
    from detlint.fixes.recipe import Changed
    from detlint.report import changes

    settings = project.config.settings
    with tempfile.TemporaryDirectory() as kept:
        # Every round checks the whole program: what it doesn't change is read once.
        cache = project.cache or Path(kept)
        fixed = fix(lambda texts: checked(texts, cache), project.catalog, project.config, stdin)
    for path, code, fault in fixed.faults:
        tell(f"{path}: {code} is not fixed, which is a fault of detlint's (please report it): {fault}")
    for path, reason in sorted(fixed.left.items()):
        tell(f"{path}: not fixed: {reason}")
    stale = any(isinstance(reason, Changed) for reason in fixed.left.values())
    if options["diff"]:
        for path, text in sorted(fixed.texts.items()):
            show_diff(changes.diff(path, fixed.before[path], text))
        click.echo(changes.would(fixed), err=True)
        return WRONG_USE if stale else int(bool(fixed.texts) and not options["exit_zero"])
    failed = _written(fixed.texts, fixed.before, stdin, project)
    if failed:
        fixed.forget(failed, checked({}, None))
    if settings.show_fixes:
        for line in changes.listed(fixed):
            click.echo(line, err=bool(stdin), color=colour())
    if not settings.fix_only:
        _write(fixed.report, project, options, err=bool(stdin))
    if failed or stale:
        return WRONG_USE
    return 0 if settings.fix_only else _exit_code(fixed.report, settings, options)


def _add_noqa(checked: Callable[[Mapping[str, bytes]], Report], project: Project, stdin: bool) -> int:
    """Write comments where something is found; 1 where none can be."""
    from detlint.fixes.noqa import add
    from detlint.fixes.originals import Originals
    from detlint.report.view import View

    if stdin:
        fail("--add-noqa writes into files; it can't be combined with `-`")
    view = View(checked({}), project.config, project.catalog)
    before = Originals(view.report, project.config.root)
    added = add(view.findings, before.__getitem__)
    left = View(checked(added.texts), project.config, project.catalog).findings if added.texts else []
    refused = {(finding.path, finding.span, finding.code): reason for finding, reason in added.refused}
    for finding in left if added.texts else [finding for finding, _ in added.refused]:
        reason = refused.get((finding.path, finding.span, finding.code), "it is found all the same")
        tell(f"{view.sources.line(finding.path, finding.span.line)}: {finding.code} gets no comment: {reason}")
    failed = _written(added.texts, before, {}, project, "changed")
    lines = [count for path, count in added.lines.items() if path not in failed]
    said = f"to {sum(lines)} line{'s' * (sum(lines) != 1)} of {len(lines)} file{'s' * (len(lines) != 1)}"
    click.echo(f"Added `# noqa` {said}." if lines else "No comments added." if failed else "No comments to add.")
    return WRONG_USE if failed or added.stale else int(bool(left or added.refused))


def _written(
    texts: Mapping[str, bytes],
    before: Mapping[str, bytes],
    stdin: Mapping[str, bytes],
    project: Project,
    verb: str = "fixed",
) -> set[str]:
    """Put texts into their files, that of standard input to standard output; the files in which that failed."""
    from detlint.fixes.write import NotWritten, write

    failed = set()
    for path, text in sorted(texts.items()):
        try:
            if path not in stdin:
                write(Path(path), before[path], text, project.config.root)
        except NotWritten as error:
            failed.add(path)
            tell(f"{path}: not {verb}: {error}")
    for path, text in stdin.items():
        sys.stdout.buffer.write(texts.get(path, text))
    return failed


def _overrides(options: dict[str, Any]) -> dict[str, Any]:
    """What the command line says, by the names of the settings."""
    names = ("select", "extend_select", "ignore", "extend_ignore", "profile", "output_format", "show_notes", "fail_on",
             "force_exclude", "respect_gitignore", "jobs", "fix", "unsafe_fixes", "fix_only", "fix_style", "show_fixes")  # fmt: skip
    chosen = {name.replace("_", "-"): options[name] for name in names if options[name] is not None}
    if options["targets"]:
        chosen["targets"] = list(options["targets"])
    if options["baseline"]:
        chosen["baseline"] = os.path.abspath(options["baseline"])
    elif options["no_baseline"] or options["isolated"]:
        chosen["baseline"] = ""
    for name in ("exclude", "extend_exclude"):
        if options[name]:
            chosen[name.replace("_", "-")] = [
                part.strip() for item in options[name] for part in item.split(",") if part.strip()
            ]
    return chosen


def _write(report: Report, project: Project, options: dict[str, Any], err: bool = False) -> None:
    from detlint.report.view import View

    form = project.config.settings.output_format
    view = View(report, project.config, project.catalog, project.cache, not options["no_fold"])
    if options["statistics"] and form in formats.FOR_PEOPLE:
        from detlint.report.text import statistics

        lines: Iterable[str] = statistics(view)
    else:
        lines = formats.lines(form, view)
    if form not in formats.FOR_PROGRAMS:
        lines = map(line_of, lines)
    put("".join(line + "\n" for line in lines), options["output_file"], err)


_REPORT = frozenset(
    {"output_format", "output_file", "fix", "unsafe_fixes", "diff", "fix_only", "show_fixes", "no_fold", "statistics", "fail_on",
     "exit_zero", "stdin_filename", "no_baseline", "add_noqa", "diff_base", "watch", "show_files", "show_settings", "verbose"}
)  # fmt: skip
"""Options of `check` that say what becomes of findings, not which there are."""


@main.command(params=[option for option in check.params if option.name not in _REPORT])
@click.option("--prune", is_flag=True, help="Drop what is found no more, and add nothing.")
@click.option("--check", "compare", is_flag=True, help="Write nothing; exit with 1 if the file would change.")
def baseline(paths: tuple[Path, ...], prune: bool, compare: bool, **options: Any) -> None:
    """Write down what is found: from then on, `detlint check` is silent about it until the code that it stands on changes.

    Entries of files that are not among PATHS (default: the current folder) stay if the files are still there.
    """
    sys.exit(_baseline(paths or (Path(),), prune, compare, {**dict.fromkeys(_REPORT), **options}))


def _baseline(paths: tuple[Path, ...], prune: bool, compare: bool, options: dict[str, Any]) -> int:
    from detlint import baseline as baselines
    from detlint.discover import discover
    from detlint.fixes.write import NotWritten
    from detlint.report.place import shown

    project = _project(paths[0], {name: value for name, value in _overrides(options).items() if value != ""}, options)
    file, old = baselines.place(project.config), baselines.load(project.config, anew=not prune)
    if "baseline" not in project.config.overridden and not file.resolve().is_relative_to(project.config.root.resolve()):
        fail(f"{file}: the configuration puts the baseline outside of the project; `--baseline` may name it")
    found = discover(paths, project.config)
    with _Bar() as bar:
        report = project.bare().check(found.files, paths, None, found.problems, bar.advance)
    new, change = baselines.renewed(old, report, project.config, prune)
    differs = new.differs()
    said = (
        f"{change.total} finding{'s' * (change.total != 1)} in {change.files} file{'s' * (change.files != 1)}: "
        f"{change.added} new, {change.dropped} gone"
    )
    try:
        if differs and not compare:
            new.write(file)
    except NotWritten as error:
        fail(f"{file}: not written: {error}")
    name = shown(str(file))
    click.echo(
        f"{'Would write' if compare else 'Wrote'} {name}: {said}." if differs else f"{name} is up to date: {said}."
    )
    return int(differs and compare)


def _show_settings(config: Config) -> None:
    click.echo(f"# root: {visible(str(config.root))}\n# configuration: {visible(str(config.source or 'none'))}")
    for library, version in sorted(config.settings.versions.items()):
        click.echo(visible(f"# {library} {version}: {config.found.get(library) or config.says('versions')}"))
    click.echo(encoded(config.settings))


class _Bar:
    """A progress bar on standard error, once a run takes longer than a second on a terminal."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.update: Callable[[int, int], None] | None = None
        self.close: Callable[[], None] = lambda: None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def advance(self, done: int, total: int) -> None:
        if (
            self.update is None
            and sys.stderr is not None
            and sys.stderr.isatty()
            and time.perf_counter() - self.started > 1
        ):
            self._open()
        if self.update is not None:
            self.update(done, total)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        bar = Progress(
            TextColumn("reading"), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True
        )
        task = bar.add_task("reading")
        bar.start()
        self.update = lambda done, total: bar.update(task, completed=done, total=total)
        self.close = bar.stop
