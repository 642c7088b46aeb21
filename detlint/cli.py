"""The command line. Each command is a few lines over the modules that do the work."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from detlint import __version__
from detlint.report import formats

if TYPE_CHECKING:
    from detlint.beginning import Beginning
    from detlint.checks.finding import Report
    from detlint.config import Config, Settings
    from detlint.discover import Found
    from detlint.inspect import Inspection
    from detlint.project import Project
    from detlint.since import Changes
    from detlint.tracing.start import Program

WRONG_USE = 2
LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)", re.S)
CELL_LINE = re.compile(r"(?P<file>.+\.ipynb):(?:cell )?(?P<cell>\d+):(?P<line>\d+)(?::\d+)?", re.S)
"""A line as findings in notebooks have it, with or without the column."""
WIDEST = 100
"""Columns of text that are still easy to read."""


class _Group(click.Group):
    """`detlint PATH` is `detlint check PATH`."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = ["check", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version", "-V"):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Commands, or what may follow `check`, which need not be written. (bash takes words or files, not both.)"""
        found = super().shell_complete(ctx, incomplete)
        return found if found and not incomplete.startswith("-") else [*found, *_of_check(incomplete)]


def _of_check(incomplete: str) -> list[Any]:
    """How `check` goes on: with its options, or with a path."""
    context = click.Context(check, info_name="check")
    found = check.shell_complete(context, incomplete)
    return found or check.params[0].shell_complete(context, incomplete)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def main() -> None:
    """Finds nondeterminism in machine-learning code: unseeded draws, random layers and transforms, operators that sum
    in varying order, device-side randomness, and switches that are missing, misspelt or set too late.

    `detlint PATH...` is short for `detlint check PATH...`.
    """


def _codes(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str] | None:
    codes = [code.strip().upper() for item in value for code in item.split(",") if code.strip()]
    return codes or None


def _selectors(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from detlint.completion import selectors

    return selectors(incomplete)


_CONFIG = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration file (pyproject.toml or detlint.toml) instead of the nearest.",
)
_ISOLATED = click.option("--isolated", is_flag=True, help="Use no configuration file.")


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
@click.option(
    "--profile",
    type=click.Choice(["reproduce", "align"]),
    help="reproduce: does the same command give the same result twice? "
    "align: can the run be compared with another back end? [default: reproduce]",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    type=click.Choice(["cpu", "cuda", "ascend", "tpu", "mps", "xpu"]),
    help="Hardware to judge for; may be repeated. [default: what each file mentions]",
)
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
@_CONFIG
@_ISOLATED
@click.option("--show-files", is_flag=True, help="Print the files that would be checked, and stop.")
@click.option("--show-settings", is_flag=True, help="Print the settings in force, and stop.")
@click.option("-v", "--verbose", is_flag=True, help="Say what is done, on standard error.")
def check(paths: tuple[Path, ...], **options: Any) -> None:
    """Check files and folders (default: the current one).

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 wrong use or configuration.
    """
    if options["watch"]:
        with _errors():
            _watch(paths or (Path(),), options)
    with _no_garbage(), _errors():
        code = _check(paths or (Path(),), options)
        for stream in filter(None, (sys.stdout, sys.stderr)):  # closed ones are None
            stream.flush()
        raise Checked(code)


class Checked(SystemExit):
    """The end of a check, when all is said."""

    code: int


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Ends the program with a message where the user is to do something."""
    from detlint.catalog import CatalogError
    from detlint.config import ConfigError

    try:
        yield
    except (ConfigError, CatalogError) as error:
        _fail(str(error))
    except FileNotFoundError as error:
        _fail(f"no such file or folder: {error}")
    except BrokenPipeError:
        # The reader has gone (`detlint . | head`): nothing is left to say.
        _drop_output()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:  # the disk is full, say
        _drop_output()
        _fail(str(error))


def _drop_output() -> None:
    """Have what standard output couldn't write go nowhere: Python tries that once more at its end, and then tells of it by another exit
    code."""
    with contextlib.suppress(AttributeError, OSError):  # there is none, or it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
            _fail("--diff-base compares files; it can't be combined with `-`")
        if len(paths) > 1:
            _fail("`-` reads standard input and can't be combined with other paths")
        paths = (options["stdin_filename"] or Path("stdin.py"),)
        stdin = {os.path.abspath(paths[0]): sys.stdin.buffer.read()}
    project = _project(paths[0], _overrides(options), options)
    if options["show_settings"]:
        _show_settings(project.config)
        return 0
    found = Found((str(paths[0]),)) if stdin else discover(paths, project.config)
    if options["show_files"]:
        for file in found.files:
            click.echo(file)
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
        click.echo(
            f"{report.files} files, {report.lines:,} lines parsed in {report.seconds:.2f} s; "
            f"judged anew: {report.judged}, runs followed anew: {report.followed}; "
            f"{report.suppressed} suppressed, {report.baselined} in the baseline; "
            f"configuration: {project.config.source or 'none'}; root: {project.config.root}; cache: {project.cache or 'off'}",
            err=True,
        )
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
        _fail("--diff-base can't be combined with --fix, --fix-only or --diff")
    try:
        return Changes.since(options["diff_base"], project.config.root.absolute(), found.files)
    except NoComparison as error:
        _fail(str(error))


def _before(changes: Changes, project: Project, found: Found, paths: tuple[Path, ...]) -> Report:
    """The program as it was before some changes."""
    texts = changes.texts(project.config.root.absolute(), found.files)
    gone = [Path(path) for path in texts if not os.path.lexists(path)]
    return project.bare().check([*found.files, *gone], paths, texts)


def _watch(paths: tuple[Path, ...], options: dict[str, Any]) -> NoReturn:
    """Check after each change, until the user ends it."""
    from detlint.watch import NoWatcher, changed_files, watch

    if Path("-") in paths:
        _fail("--watch needs files; it can't be combined with `-`")

    def check() -> None:
        if sys.stdout.isatty():
            click.clear()
        started = time.perf_counter()
        try:
            with _errors():
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
        _fail(str(error))
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
    from detlint.report import changes

    settings = project.config.settings
    before = dict(stdin)
    with tempfile.TemporaryDirectory() as kept:
        # Every round checks the whole program: what it doesn't change is read once.
        cache = project.cache or Path(kept)
        fixed = fix(lambda texts: checked(texts, cache), project.catalog, settings, before)
    for path, reason in fixed.faults.items():
        _tell(f"{path}: left alone, which is a fault of detlint's (please report it): {reason}")
    if options["diff"]:
        for path, text in sorted(fixed.texts.items()):
            for line in changes.diff(path, before[path], text):
                click.echo(changes.coloured(line), nl=False, color=_colour())
        click.echo(changes.would(fixed), err=True)
        return int(bool(fixed.texts) and not options["exit_zero"])
    written = _written(fixed.texts, before, stdin)
    if settings.show_fixes:
        for line in changes.listed(fixed):
            click.echo(line, err=bool(stdin), color=_colour())
    if not settings.fix_only:
        _write(fixed.report, project, options, err=bool(stdin))
    if fixed.faults or not written:
        return WRONG_USE
    return 0 if settings.fix_only else _exit_code(fixed.report, settings, options)


def _add_noqa(checked: Callable[[Mapping[str, bytes]], Report], project: Project, stdin: bool) -> int:
    """Write comments where something is found; 1 where none can be."""
    from detlint.fixes.noqa import add
    from detlint.report.view import View

    if stdin:
        _fail("--add-noqa writes into files; it can't be combined with `-`")
    view = View(checked({}), project.config, project.catalog)
    before: dict[str, bytes] = {}
    added = add(view.findings, lambda path: before.setdefault(path, Path(path).read_bytes()))
    left = View(checked(added.texts), project.config, project.catalog).findings if added.texts else []
    refused = {(finding.path, finding.span, finding.code): reason for finding, reason in added.refused}
    for finding in left if added.texts else [finding for finding, _ in added.refused]:
        reason = refused.get((finding.path, finding.span, finding.code), "it is found all the same")
        _tell(f"{view.sources.line(finding.path, finding.span.line)}: {finding.code} gets no comment: {reason}")
    written = _written(added.texts, before, {}, "changed")
    files = len(added.texts)
    said = f"to {added.lines} line{'s' * (added.lines != 1)} of {files} file{'s' * (files != 1)}"
    click.echo(f"Added `# noqa` {said}." if files else "No comments to add.")
    return int(bool(left or added.refused)) if written else WRONG_USE


def _written(
    texts: Mapping[str, bytes], before: Mapping[str, bytes], stdin: Mapping[str, bytes], verb: str = "fixed"
) -> bool:
    """Put texts into their files, that of standard input to standard output; whether all could be."""
    from detlint.fixes.write import NotWritten, write

    done = True
    for path, text in sorted(texts.items()):
        try:
            if path not in stdin:
                write(Path(path), before[path], text)
        except NotWritten as error:
            done = False
            _tell(f"{path}: not {verb}: {error}")
    for path, text in stdin.items():
        sys.stdout.buffer.write(texts.get(path, text))
    return done


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
    view = View(report, project.config, project.catalog, project.cache)
    if options["statistics"] and form in formats.FOR_PEOPLE:
        from detlint.report.text import statistics

        lines: Iterable[str] = statistics(view)
    else:
        lines = formats.lines(form, view)
    _put("".join(line + "\n" for line in lines), options["output_file"], err)


def _put(text: str, file: Path | None, err: bool = False) -> None:
    """Write a text into a file, without its colours, or to standard output."""
    if file is None:
        click.echo(text, nl=False, err=err, color=_colour())
        return
    try:
        file.write_text(click.unstyle(text), "utf-8")
    except OSError as error:
        _fail(f"{file}: can't be written: {error.strerror}")


_REPORT = frozenset(
    {"output_format", "output_file", "fix", "unsafe_fixes", "diff", "fix_only", "show_fixes", "statistics", "fail_on",
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
    with _errors():
        sys.exit(_baseline(paths or (Path(),), prune, compare, {**dict.fromkeys(_REPORT), **options}))


def _baseline(paths: tuple[Path, ...], prune: bool, compare: bool, options: dict[str, Any]) -> int:
    from detlint import baseline as baselines
    from detlint.discover import discover
    from detlint.fixes.write import NotWritten
    from detlint.report.place import shown

    project = _project(paths[0], {name: value for name, value in _overrides(options).items() if value != ""}, options)
    file, old = baselines.place(project.config), baselines.load(project.config, anew=not prune)
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
    except (NotWritten, OSError) as error:
        _fail(f"{file}: can't be written: {error}")
    name = shown(str(file))
    click.echo(
        f"{'Would write' if compare else 'Wrote'} {name}: {said}." if differs else f"{name} is up to date: {said}."
    )
    return int(differs and compare)


def _show_settings(config: Config) -> None:
    import msgspec

    click.echo(f"# root: {config.root}\n# configuration: {config.source or 'none'}")
    for library, version in sorted(config.settings.versions.items()):
        click.echo(f"# {library} {version}: {config.found.get(library) or config.says('versions')}")
    click.echo(msgspec.json.format(msgspec.json.encode(config.settings), indent=2).decode())


def _rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    from detlint.completion import rules

    return rules(incomplete)


@main.command()
@click.argument("code", required=False, shell_complete=_rules)
@click.option("--all", "everything", is_flag=True, help="Print every rule.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print the page.",
)
@_CONFIG
@_ISOLATED
def rule(code: str | None, everything: bool, output_format: str, config_file: Path | None, isolated: bool) -> None:
    """Print a rule's page: what it finds, why, an example, the APIs and their conditions, what to do.

    CODE is a code or a name, as in DET403 or grid-sample. Rules of the catalogs that the configuration names count too.
    """
    from detlint.catalog import CatalogError
    from detlint.config import ConfigError, load
    from detlint.report import rules
    from detlint.run import load_catalog

    if (code is None) is not everything:
        _fail("name a rule (`detlint rule DET403`) or say --all")
    try:
        catalog = load_catalog(load(Path.cwd(), config_file, isolated), None)
        chosen = rules.every(catalog) if code is None else [rules.find(catalog, code)]
    except (ConfigError, CatalogError, rules.UnknownRule) as error:
        _fail(str(error))
    if output_format == "json":
        import msgspec

        found = [rules.data(catalog, one) for one in chosen]
        click.echo(msgspec.json.format(msgspec.json.encode(found if everything else found[0]), indent=2).decode())
        return
    import shutil

    from detlint.report.document import markdown, text

    width = min(shutil.get_terminal_size().columns, WIDEST)
    pages = [[*rules.page(catalog, one)] for one in chosen]
    if output_format == "markdown":
        click.echo("\n".join(markdown(page) for page in pages), nl=False)
    else:
        click.echo("\n\n\n".join(text(page, width) for page in pages), color=_colour())


@main.command()
@click.argument("place", metavar="FILE:[CELL:]LINE")
def explain(place: str) -> None:
    """Print the reasoning for one line: what is known of it, which runs come there, and why the verdict is what it is.

    In a notebook, a line is one of a cell: train.ipynb:3:12, or train.ipynb:cell 3:12 as findings have it.
    """
    from detlint.report.explain import explain as explained

    in_cell = CELL_LINE.fullmatch(place)
    named = in_cell or LINE.fullmatch(place)
    if named is None:
        _fail(f"`{place}`: name a file and a line, as in train.py:12, or train.ipynb:3:12 for line 12 of cell 3")
    file, line, cell = Path(named["file"]), int(named["line"]), int(in_cell["cell"]) if in_cell else None
    lines = _inspected(file, lambda inspection: [*explained(inspection, line, cell)])
    click.echo("\n".join(lines), color=_colour())


@main.command()
@click.argument("start", metavar="FILE[:FUNCTION]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["dot", "mermaid", "html"]),
    default="mermaid",
    show_default=True,
    help="Graphviz, Mermaid, or a page of its own with the source lines.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it there instead of to standard output.",
)
def graph(start: str, form: str, output: Path | None) -> None:
    """Write the seed flow of an entry point: which functions its run passes, and what they seed and draw from."""
    from detlint.report.graph import graph as drawn

    file, function = (start, "") if Path(start).exists() else start.rpartition(":")[::2]
    text = _inspected(Path(file or start), lambda inspection: drawn(inspection, function, form))
    _put(text, output)


def _handled(ctx: click.Context, param: click.Parameter, value: str | None) -> str | list[str] | None:
    if value is None or value in ("listed", "keep"):
        return value
    return [name.strip() for name in value.split(",") if name.strip()]


_MODULE = click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as for `python -m`.")


@main.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@_MODULE
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The seed of every stream. [default: 1234]")
@click.option(
    "--profile",
    type=click.Choice(["reproduce", "align"]),
    help="reproduce: the same command gives the same result twice, and randomness by design stays. "
    "align: dropout and random transforms are off, data comes in order, random numbers come from the CPU. "
    "[default: reproduce]",
)
@click.option("--dropout", type=click.Choice(["keep", "off"]), help="What drops at random.")
@click.option("--rng", type=click.Choice(["device", "cpu"]), help="Where random tensors are drawn.")
@click.option(
    "--operators",
    callback=_handled,
    metavar="listed|keep|NAMES",
    help="Nondeterministic operators that run on the CPU: those of the catalog, none, or these APIs and rule codes.",
)
@click.option(
    "--replace",
    callback=_handled,
    metavar="listed|keep|NAMES",
    help="Operators that are put together from small ones, likewise.",
)
@click.option("--loaders", type=click.Choice(["seeded", "sequential", "keep"]), help="The order of data.")
@click.option("--transforms", type=click.Choice(["keep", "off"]), help="Random transforms of samples.")
@click.option(
    "--collectives", type=click.Choice(["deterministic", "strict", "keep"]), help="Communication between devices."
)
@click.option(
    "--unsupported",
    type=click.Choice(["warn", "error", "cpu"]),
    help="What to do about a nondeterministic operator for which nothing else is known. [default: warn]",
)
@click.option(
    "--deterministic/--no-deterministic",
    default=None,
    help="Whether the libraries' switches of deterministic operators are turned on. [default: on]",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what was done there, as JSON.",
)
@click.option("-q", "--quiet", is_flag=True, help="Don't print what was done.")
@_CONFIG
@_ISOLATED
def run(
    command: tuple[str, ...],
    module: bool,
    report: Path | None,
    quiet: bool,
    config_file: Path | None,
    isolated: bool,
    **options: Any,
) -> None:
    """Run a program with everything seeded and deterministic, without editing it.

    Its options, its exit code and the signals that it gets are its own. What was done is printed to standard error when it
    ends. Options not given are those of `[tool.detlint.runtime]`.
    """
    from detlint.runtime.launch import NotStarted, launch

    with _errors():
        settings, source = _enforced(command, module, config_file, isolated)
        chosen = {**settings, **{key: value for key, value in options.items() if value is not None}}
        written = os.path.abspath(report) if report is not None else ""
        try:
            launch(_arguments(command, module), chosen, written, quiet, source)
        except NotStarted as error:
            _fail(str(error))


def _arguments(command: tuple[str, ...], module: bool) -> tuple[str, ...]:
    """A program as `python` takes it."""
    return ("-m", *command) if module else command


def _enforced(
    command: tuple[str, ...], module: bool, config_file: Path | None = None, isolated: bool = False
) -> tuple[dict[str, Any], str]:
    """What the configuration of a program says of enforcing, and the file that it stands in; "" for none."""
    from detlint.config import enforced, load

    script = Path(command[0])
    config = load(script if script.exists() and not module else Path.cwd(), config_file, isolated)
    return enforced(config.settings), os.path.abspath(config.source) if config.source is not None else ""


_PROGRAM = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands behind a script's name is the script's."""
_LEVEL = click.option(
    "--level",
    type=click.Choice(["module", "api", "kernel"]),
    default="kernel",
    show_default=True,
    help="What is recorded: calls of modules, of public functions, or every kernel.",
)
_TO = click.option(
    "-o",
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report there instead of to standard output.",
)


class _Trace(click.Command):
    """Its options may stand behind the folder, too, as far as the script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {name for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
        end = 1
        while end < len(args) and not args[0].startswith("-") and args[end].startswith("-"):
            end += 2 if args[end] in valued else 1
        return super().parse_args(ctx, [*args[1:end], *args[:1], *args[end:]])


@main.command(cls=_Trace, context_settings=_PROGRAM)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@_MODULE
@click.option("--steps", metavar="STEPS", help="Training steps to record, as in 0,1 or 0-3. [default: all]")
@_LEVEL
@click.option("--enforce", "enforced", is_flag=True, help="Trace it in the environment of `detlint run`.")
def trace(folder: Path, command: tuple[str, ...], module: bool, steps: str | None, level: str, enforced: bool) -> None:
    """Run a program with a trace: digests of what each operator is given and gives, and the line that calls it.

    DIR gets a file for each process; `detlint diff` compares two.
    """
    from detlint.runtime.launch import NotStarted
    from detlint.tracing.settings import parse_steps
    from detlint.tracing.watch import Watch

    if folder.exists() and any(folder.glob("*.trace")):
        _fail(f"{folder}: there is a trace already; name another folder, or remove this one")
    with _errors():
        try:
            chosen = sorted(parse_steps(steps)) if steps is not None else None
            watch = Watch(trace=os.path.abspath(folder), steps=chosen, level=level)  # type: ignore[arg-type]
            _program(command, module, enforced).become(watch)
        except (NotStarted, ValueError) as error:
            _fail(str(error))


def _program(command: tuple[str, ...], module: bool, enforced: bool) -> Program:
    """What is to be run; enforced as the configuration says."""
    from detlint.tracing.start import Program

    return Program(_arguments(command, module), *(_enforced(command, module) if enforced else ()))


@main.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "sarif", "html"]),
    default="text",
    show_default=True,
    help="How to print what is found.",
)
@_TO
def diff(left: Path, right: Path, output_format: str, output_file: Path | None) -> None:
    """Compare the traces of two runs: the first operator that differs, its line, and why.

    LEFT and RIGHT are folders that `detlint trace` made, or dumps of msprobe (the folder with dump.json).

    Exit code: 0 equal, 1 different, 2 not comparable.
    """
    from detlint.tracing import output
    from detlint.tracing.reader import Unreadable
    from detlint.tracing.runs import NotComparable, compare_runs
    from detlint.tracing.story import verdict

    with _errors():
        try:
            told = verdict(compare_runs(left, right), left, right)
        except (Unreadable, NotComparable) as error:
            _fail(str(error))
        _put(f"{output.of_traces(told, output_format)}\n", output_file)
        sys.exit(int(not told.equal))


@main.command(context_settings=_PROGRAM)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGUMENTS]...")
@_MODULE
@click.option("--runs", type=click.IntRange(min=2), default=2, show_default=True, help="How often to run it.")
@click.option(
    "--iterations",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Training iterations after which a run ends; 0: when it ends by itself.",
)
@click.option(
    "--atol", type=click.FloatRange(min=0), help="Let losses pass that differ by no more. [default: 1e-3, told only]"
)
@click.option("--metric", metavar="REGEX", help="Read the loss from the output: the expression's first group.")
@click.option("--as-is", is_flag=True, help="Run it as it is, not in the environment of `detlint run`.")
@click.option(
    "--trace/--no-trace", default=True, show_default=True, help="Trace two more runs where the losses differ."
)
@click.option("--twice", is_flag=True, help="Run each kernel twice within one run, instead of the program.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How to print what is found.",
)
@_TO
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with both curves there, too."
)
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep losses, output and traces there.")
def verify(command: tuple[str, ...], module: bool, output_file: Path | None, **options: Any) -> None:
    """Run a program twice, and tell whether it repeats; if not, which operator is the first that differs.

    The runs end after two iterations: if the first loss agrees, the forward pass is fixed, and if the second does, the
    backward pass.

    Exit code: 0 equal bit for bit (or within --atol, if given), 1 not, 2 not comparable.
    """
    from detlint.runtime.launch import NotStarted
    from detlint.tracing import output

    with _errors(), _folder(options["keep"]) as folder:
        try:
            program = _program(command, module, not options["as_is"])
            if options["twice"]:
                found: output.TriedTwice | output.Verified = output.twice(program, folder, options["iterations"])
            else:
                found = output.verified(program, folder, options)
        except (NotStarted, re.error) as error:
            _fail(str(error))
        if options["html"] is not None:
            _put(f"{found.html()}\n", options["html"])
        _put(f"{found.text(options['output_format'])}\n", output_file)
        sys.exit(found.code)


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """A folder that stays, or one for the time being."""
    import tempfile

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="detlint-verify-") as made:
            yield Path(made)
        return
    if keep.exists() and any(keep.iterdir()):
        _fail(f"{keep}: isn't empty; name another folder to keep the runs in")
    keep.mkdir(parents=True, exist_ok=True)
    yield keep


@main.command()
@click.option("--stdio", is_flag=True, hidden=True, help="Accepted because many editors pass it.")
def server(stdio: bool) -> None:
    """Run the language server, over standard input and output: editors start it. Needs detlint[server]."""
    try:
        from detlint.language_server import main as serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        _fail(f"{error.name} is not installed; `pip install 'detlint[server]'` has what the language server needs")
    serve()


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path())
@click.option("--diff", "--dry-run", "dry", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Don't ask before writing.")
def init(folder: Path, dry: bool, yes: bool) -> None:
    """Look through a repository, and write a configuration for it: into its pyproject.toml, else into a detlint.toml.

    A configuration that is there stays as it is. On a terminal, it asks before it writes.
    """
    with _errors():
        sys.exit(_init(folder, dry, yes))


MOST_CHECKED = 2_000
"""Files that `detlint init` checks, to tell how much is found, and follows runs in: that takes seconds."""


def _init(folder: Path, dry: bool, yes: bool) -> int:
    from detlint import beginning
    from detlint.discover import discover
    from detlint.project import Project
    from detlint.report.place import shown
    from detlint.survey import survey

    project = Project.of(folder, {})
    config = project.config
    # What nothing marks as a project is that folder and no more, although its root is where names are looked for.
    root = config.root.absolute() if config.project else folder.absolute()
    files = discover([root], config)
    quick = len(files.files) <= MOST_CHECKED
    found = survey(project, files.files, follow=quick)
    for matter, said in beginning.summary(found, config):
        click.echo(f"{matter:<10} {said}")
    if quick:
        report = project.bare().check(files.files, [root], None, files.problems)
        click.echo(f"{'findings':<10} {beginning.counted(report)}")
    else:
        click.echo(f"{'findings':<10} not counted here: `detlint --statistics` does")
    click.echo()
    if config.source is not None:
        click.echo(f"{shown(str(config.source.absolute()))} has a configuration, which stays as it is.")
        return 0
    return _begin(beginning.beginning(root, found), dry, yes)


def _begin(new: Beginning, dry: bool, yes: bool) -> int:
    """Write a configuration, or show it."""
    from detlint.beginning import write
    from detlint.fixes.write import NotWritten
    from detlint.report.changes import coloured, diff
    from detlint.report.place import shown

    name = shown(str(new.path))
    for line in diff(str(new.path), new.before or b"", new.after):
        click.echo(coloured(line), nl=False, color=_colour())
    if dry:
        click.echo(f"Would write {name}.", err=True)
        return 0
    asked = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    if asked and not click.confirm(f"Write {name}?", default=True):
        return 0
    try:
        write(new)
    except (NotWritten, OSError) as error:
        _fail(f"{name}: not written: {error}")
    click.echo(
        f"Wrote {name}. Next: `detlint` reports, `detlint --diff` shows fixes, `detlint baseline` accepts what is there."
    )
    return 0


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def generate_shell_completion(shell: str) -> None:
    """Print what makes a shell complete commands, options, paths and rules.

    \b
    bash: eval "$(detlint generate-shell-completion bash)"  in ~/.bashrc
    zsh:  eval "$(detlint generate-shell-completion zsh)"   in ~/.zshrc, behind compinit
    fish: detlint generate-shell-completion fish | source    in ~/.config/fish/config.fish
    """
    from detlint.completion import script

    click.echo(script(main, "detlint", shell))


_T = TypeVar("_T")


def _inspected(path: Path, show: Callable[[Inspection], _T]) -> _T:
    """What is shown of a file's program; what can't be shown is an error."""
    from detlint.catalog import CatalogError
    from detlint.config import ConfigError
    from detlint.facts.store import with_deep_stack
    from detlint.inspect import NotThere, inspect
    from detlint.project import Project

    def work() -> _T:
        project = Project.around(path)
        with inspect(path, project.config, project.catalog, project.cache) as inspection:
            return show(inspection)

    try:
        return with_deep_stack(work)
    except (NotThere, ConfigError, CatalogError) as error:
        _fail(str(error))


def _colour() -> bool | None:
    """Whether to colour: click leaves colours out where the output is no terminal; NO_COLOR and FORCE_COLOR say otherwise."""
    return False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None


def _tell(message: str) -> None:
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)


def _fail(message: str) -> NoReturn:
    _tell(message)
    sys.exit(WRONG_USE)


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


if __name__ == "__main__":
    main()
