"""What a value is on the way of one run: parameters by what they were given, options and fields by their defaults.

`Resolver` knows what a value is wherever the program goes; here it is what it is in one call of a function. Of a default,
it is also told where it stands, because that is the place that a reader would change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Keyed
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from detlint.catalog import Factory
from detlint.model.factories import named
from detlint.model.launches.loaded import is_table as of_settings
from detlint.model.module import Module
from detlint.model.registries import last
from detlint.model.resolve import Resolver
from detlint.model.results import VIEWS, in_table
from detlint.model.sites.reading.values import FLAGS
from detlint.model.sites.records import (
    LOOKED_UP,
    PARSES,
    Const,
    Each,
    Either,
    Expression,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Parameter,
    Ref,
    Result,
    Site,
    Span,
    Value,
    options,
)
from detlint.model.sites.scope import chosen, is_collection, join, over
from detlint.model.tables import is_changed

DEEPEST = 12
_CONFIG: Final = "config"
"""The parameter of builders that is a table."""
_T = TypeVar("_T")
Arguments = Sequence[tuple[str, Value | None]]
"""Those of a call, in order, by the names that `Arg` has, and as their file has them."""


class Spot(NamedTuple):
    """A place in a file."""

    module: Module
    span: Span


class Origin(NamedTuple):
    """A normal value, and where the default stands that it comes from; None where it was written out."""

    value: Value | None
    default: Spot | None = None
    held: bool = False
    """Whether something of the program holds it, which says what is to be chosen."""


Found = Callable[[], Origin]
"""Finds out what a parameter is given."""


class Given(Keyed[str, Origin]):
    """What parameters are given, each found out when it is asked for."""

    def __init__(self, finders: dict[str, Found]) -> None:
        self._finders = finders
        self._found: dict[str, Origin] = {}

    def __getitem__(self, name: str) -> Origin:
        if name not in self._found:
            self._found[name] = self._finders[name]()
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._finders)

    def __len__(self) -> int:
        return len(self._finders)


class Frame(msgspec.Struct, eq=False):
    """One call of a function."""

    module: Module
    function: Function
    given: Keyed[str, Origin] = {}
    """What its parameters, and those of the functions around it, were given."""
    receiver: str = ""
    """The class of `self`, by normal name: it may be derived from the one that defines the function."""
    registry: str = ""
    """The registry that `self` is, by its key."""
    outer: Frame | None = None
    """The call that it was made in."""
    own: Frame | None = None
    """The call of the constructor that made `self`, where that is known."""

    def modules(self) -> Iterator[Module]:
        """The files of the calls on the way here, the innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame.module
            frame = frame.outer


GIVEN: Final = "given"
"""What its function was given for a parameter, or for one of a function around; `ABSENT` where nothing."""
HANDED: Final = "handed"
"""What the constructors of a class were handed for a parameter, as the run has built objects."""
MADE: Final = "made"
"""The same for all parameters of a class."""
ASSIGNED: Final = "assigned"
"""What the run has set an option of the command line to."""
OPTION: Final = "option"
"""The file that has an option of a name: one of the calls that led to a frame, or of those that the run has passed."""
PASSED: Final = "passed"
"""The same, but only of those that the run has passed."""
DRAWN: Final = "drawn"
"""Whether one of some streams isn't seeded at this point of the run."""
NAMED: Final = "named"
"""Whether a registry that the run has come by keeps something under a name."""
CLOSED: Final = "closed"
"""What the parameters of a function, by its file and name, were given in the innermost call of it."""
ANY: Final = "any"
"""Whether its function was given anything."""
SCRIPT: Final = "script"
"""The file that was started."""
ABSENT: Final = Origin(None, None, True)
"""Stands for a parameter that nothing was given for."""
Question = tuple[str, Any]
"""What was asked of a run, of the kinds above, and of what."""


class Watch:
    """Notes what is asked of a run, and of the frame of a call, while something is found out.

    Args:
        base: that frame.
    """

    def __init__(self, base: Frame) -> None:
        self.base = base
        self.asked: dict[Question, object] = {}


class Values:
    """Looks values up in frames.

    Args:
        resolver: knows what they are anywhere.
        drawn: whether what a call of the catalog gives differs between runs: True or False, or the streams that it is drawn from.
        unseeded: whether one of some streams isn't seeded at this point of the run.
        optional: the first file of those that the run has passed so far that has an option of a command line of a name.
    """

    def __init__(
        self,
        resolver: Resolver,
        drawn: Callable[[Result], bool | tuple[str, ...]],
        unseeded: Callable[[tuple[str, ...]], bool],
        optional: Callable[[str], Module | None],
    ) -> None:
        self.resolver = resolver
        self.drawn = drawn
        self.unseeded = unseeded
        self.optional = optional
        self.watch: Watch | None = None
        self.script = ""
        """The file that was started."""
        self.depth = 0
        self.handed: dict[str, Origin] = {}
        """What the constructors of the program's classes were handed, by class and parameter."""
        self.names = set[str]()
        """The names under which the registries keep something that the run has come by."""
        self.assigned: dict[str, Origin] = {}
        """Options of the command line that its launch gives, or that the run has set anew, as other attributes, by name."""

    def note(self, kind: str, of: object, answer: _T) -> _T:
        """Note what is asked; the answer."""
        if self.watch is not None:
            self.watch.asked.setdefault((kind, of), answer)
        return answer

    def answer(self, frame: Frame, kind: str, of: Any) -> object:
        """The answer to a question of a call as it stands now."""
        if kind == GIVEN:
            return frame.given.get(of, ABSENT)
        if kind == HANDED:
            return self.handed.get(of)
        if kind == ASSIGNED:
            return self.assigned.get(of)
        if kind == OPTION:
            return self._having(frame.outer, of)
        if kind == PASSED:
            return self.optional(of)
        if kind == DRAWN:
            return self.unseeded(of)
        if kind == MADE:
            return self._handed_to(of)
        if kind == NAMED:
            return of in self.names
        if kind == SCRIPT:
            return self.script
        if kind == ANY:
            return bool(frame.given)
        assert kind == CLOSED, kind
        return closed(frame, *of)

    def look(self, frame: Frame, value: Value | None) -> Origin:
        """What a value of the frame's file is in this call."""
        if value is None or isinstance(value, Const):
            return Origin(value)
        if self.depth > DEEPEST:
            return Origin(None)
        self.depth += 1
        try:
            if isinstance(value, Param):
                return self._parameter(frame, value)
            found = self._held(frame, value)
            return found._replace(held=True) if isinstance(found.value, Const) else found
        finally:
            self.depth -= 1

    def _held(self, frame: Frame, value: Value) -> Origin:
        if isinstance(value, Member):
            return self._member(frame, value)
        if isinstance(value, Result):
            return self._result(frame, value)
        if isinstance(value, Either):
            return self._either(frame, value)
        if isinstance(value, Expression):
            return self._expression(frame, value)
        if isinstance(value, Ref):
            return self._name(frame, value)
        if isinstance(value, Items):
            return Origin(Items(tuple(self.look(frame, held).value for held in value.values), value.kind))
        if isinstance(value, Each):
            return Origin(Each(self.look(frame, value.of).value))
        if isinstance(value, Mapping):
            table, inside = self.inside(frame, value)
            assert isinstance(table, Mapping)
            return Origin(msgspec.structs.replace(table, values=tuple(held.value for held in inside)))
        if isinstance(value, Instance) and value.name and (settings := self._settings(frame, value.name)) is not None:
            return settings
        if isinstance(value, Instance) and frame.receiver:
            named = self.resolver.name(frame.module.path, value.of)
            if isinstance(named, Ref) and named.name in self.resolver.classes.mro(frame.receiver):
                return Origin(Instance(frame.receiver))  # `self`
        return Origin(self.resolver.normal(frame.module.path, value, frame.function))

    def _parameter(self, frame: Frame, value: Param) -> Origin:
        given = self.given(frame, value.name)
        if given is not None:
            return given
        for function in frame.module.around(frame.function):
            detail = frame.module.detail(function)
            option = detail.options.get(value.name)
            if option is not None:
                anew = self.note(ASSIGNED, value.name, self.assigned.get(value.name))
                if anew is not None:
                    return anew
                inside = Frame(frame.module, function)
                return Origin(self.look(inside, option.default).value, Spot(frame.module, option.span))
            parameter = next((p for p in detail.parameters if p.name == value.name), None)
            if parameter is not None:
                if parameter.default is None:
                    break
                span = parameter.span
                default = self.look(Frame(frame.module, frame.module.facts.functions[0]), parameter.default)
                return Origin(default.value, Spot(frame.module, span) if span is not None else default.default)
        return Origin(self._handed(frame, value.name) or Param(value.name))

    def _handed(self, frame: Frame, parameter: str) -> Value | None:
        """The table of settings that a decorator hands the first parameter of a function that is called without any."""
        loaded, first = self.resolver.loaded, next((p.name for p in frame.module.taken(frame.function)), "")
        if loaded is None or parameter != first or not loaded.hands(frame.module, frame.function.name):
            return None
        script = self.note(SCRIPT, None, self.script)
        return loaded.handed_to(frame.module, frame.function.name, script)

    def given(self, frame: Frame, name: str) -> Origin | None:
        """What a call gave a parameter; None where it gave nothing."""
        found = frame.given.get(name)
        if self.watch is not None and frame is self.watch.base:
            self.note(GIVEN, name, ABSENT if found is None else found)
        return found

    def _settings(self, frame: Frame, name: str) -> Origin | None:
        """The settings that a parameter is, whatever an annotation says of it; None for none."""
        given = self.given(frame, name)
        if given is not None:
            return given if of_settings(given.value) else None
        handed = self._handed(frame, name)
        return Origin(handed) if handed is not None else None

    def _name(self, frame: Frame, value: Ref) -> Origin:
        if value.name.startswith(f"{FLAGS}."):
            found = self._option(frame, value.name.removeprefix(f"{FLAGS}.").partition(".")[0])
            if found is not None:
                return found
        named = self.resolver.normal(frame.module.path, value)
        owner, _, attr = value.name.rpartition(".")
        # `Config.seed`: a field of a class of the program, by its default.
        held = self.resolver.name(frame.module.path, owner) if owner and isinstance(named, Const) else None
        return Origin(named, self._field_spot(held.name, attr) if isinstance(held, Ref) else None)

    def _member(self, frame: Frame, value: Member) -> Origin:
        part = _part_of_text(value)
        if part is not None:
            text, number = part
            whole = self.look(frame, text)
            said = [option.value for option in options(whole.value) if isinstance(option, Const)]
            parts = [Const(str(each).replace(":", ".").rpartition(".")[::2][number]) for each in said]
            return whole._replace(value=join(parts) if len(parts) == len(options(whole.value)) else None)
        base = self.look(frame, value.base)
        if (in_file := self.said(base.value, value.attr)) is not None:
            return in_file
        if isinstance(value.base, Ref) and is_collection(base.value):
            return Origin(self.resolver.normal(frame.module.path, value))
        if base.value is None:
            return Origin(None)
        option = self._option(frame, value.attr) if is_parsed(base.value, self.resolver, frame.module.path) else None
        if option is not None:
            return option
        kind = self.resolver.types.of(base.value)
        spot = self._field_spot(kind, value.attr) if "::" in kind else None
        found = self.resolver.member(base.value, value.attr)
        if "::" in kind and found == Const(None):  # until somebody sets it: `settings = Settings(); settings.seed = 1`
            anew = self.note(ASSIGNED, value.attr, self.assigned.get(value.attr))
            if anew is not None:
                return anew
        if "::" in kind and rests_on_name(found) and (made := self._made(kind, value.attr)) is not None:
            return made
        if isinstance(found, Param) and "::" in kind:
            # An attribute that the constructor was handed.
            key = f"{kind}.{found.name}"
            return self.note(HANDED, key, self.handed.get(key)) or Origin(found)
        of = found.of if isinstance(found, Result) else None
        if (
            isinstance(found, Result)
            and isinstance(of, Ref)
            and ("::" in of.name or of.name in self.resolver.catalog.builders)
        ):
            place = self.resolver.place(found.site)
            inside = self._constructing(kind, *place, frame) if place is not None else frame
            call = Result(of, found.site & 0xFFFFFFFF if place is not None else -1)
            made = self._called(inside, call, of) if "::" in of.name else self._result(inside, call)
            return Origin(made.value, spot or made.default)
        return Origin(found, spot if spot is not None else base.default)

    def _constructing(self, kind: str, module: Module, site: Site, outer: Frame) -> Frame:
        """The function around a call that makes an attribute of a class: its constructor has what it was handed."""
        function = module.function_of(site)
        frame = Frame(module, function, outer=outer)
        if f"{module.path}::{function.name}" != f"{kind}.__init__":
            return frame
        given = Given({p.name: partial(self._handed_or_own, frame, kind, p.name) for p in module.taken(function)})
        return Frame(module, function, given, outer=outer)

    def _handed_or_own(self, frame: Frame, kind: str, parameter: str) -> Origin:
        """What the constructor of a class was handed for a parameter; where nothing, its default."""
        key = f"{kind}.{parameter}"
        return self.note(HANDED, key, self.handed.get(key)) or self._parameter(frame, Param(parameter))

    def said(self, table: Value | None, key: str) -> Origin | None:
        """What a file of settings says under a key of a table of it, and where."""
        loaded = self.resolver.loaded
        said = loaded.under(table, key) if loaded is not None else None
        home = self.resolver.module(said.path) if said is not None else None
        return Origin(said.value, Spot(home, said.span)) if said is not None and home is not None else None

    def _table(self, frame: Frame, value: Result) -> Origin | None:
        """The table of a file that a call reads; None where it isn't known to be one."""
        target = self.resolver.normal(frame.module.path, value.of) if value.site >= 0 else None
        if (
            self.resolver.loaded is None
            or not isinstance(target, Ref)
            or target.name not in self.resolver.catalog.reading
        ):
            return None
        given, site = partial(self._text_given, frame), frame.module.sites[value.site]
        read = partial(self.resolver.loaded.read_by, frame.module, site, target.name, given=given)
        table = read("") or read(self.note(SCRIPT, None, self.script))
        return Origin(table) if table is not None else None

    def table_of(self, frame: Frame, site: Site) -> tuple[Factory, int] | None:
        """What a call says that builds things by tables, and which of its arguments is one: `hydra.utils.instantiate(cfg.model)`; None
        for any other."""
        catalog = self.resolver.catalog
        if site.kind != "call" or last(site.target) not in catalog.builder_words:
            return None
        meant = self.resolver.normal(frame.module.path, site.target)
        factories = catalog.builders.get(meant.name, ()) if isinstance(meant, Ref) else ()
        names = [argument.name for argument in site.args]
        at = 0 if names[:1] == [""] else names.index(_CONFIG) if _CONFIG in names else -1
        if not factories or at < 0:
            return None
        table = self.look(frame, site.args[at].value).value
        return next((one for one in factories if self.said(table, one.key) is not None), factories[0]), at

    def described_by(self, frame: Frame, site: Site) -> Value | None:
        """The definition of the program that such a call builds, by what a file of settings says; None where it isn't known, or only
        prepared."""
        built = self.table_of(frame, site)
        if built is None:
            return None
        factory, at = built
        table = self.look(frame, site.args[at].value).value
        prepares = self.said(table, factory.partial) if factory.partial else None
        if prepares is not None and prepares.value != Const(False):
            return None
        said = self.said(table, factory.key)
        text = said.value.value if said is not None and isinstance(said.value, Const) else None
        of_program = named(factory, text, self.resolver.catalog) if isinstance(text, str) else None
        found = self.resolver.name(frame.module.path, of_program.name) if of_program is not None else None
        return found if isinstance(found, Ref) and "::" in found.name else None

    def _text_given(self, frame: Frame, name: str) -> str | None:
        """The text that a call gave a parameter, or that an option of the command line is, `args.config`."""
        name, _, option = name.partition(".")
        found = self.given(frame, name) if name else None
        if option and (not name or (found is not None and is_parsed(found.value, self.resolver, frame.module.path))):
            found = self._option(frame, option)
        text = found.value.value if found is not None and isinstance(found.value, Const) else None
        return text if isinstance(text, str) else None

    def _made(self, kind: str, attr: str) -> Origin | None:
        """What the constructor of a class keeps as an attribute, with what it was handed."""
        for module, inside in self.resolver.classes.family(kind):
            body, function = module.classes[inside], module.functions.get(f"{inside}.__init__")
            if function is not None and attr in body.attributes:
                given = self.note(MADE, kind, self._handed_to(kind))
                return self.look(Frame(module, function, given, kind), body.attributes[attr])
        return None

    def _handed_to(self, kind: str) -> dict[str, Origin]:
        """What the constructors of a class were handed, by parameter."""
        begin = f"{kind}."
        return {k.removeprefix(begin): v for k, v in self.handed.items() if k.startswith(begin)}

    def _field_spot(self, name: str, attr: str) -> Spot | None:
        """Where a class of the program gives a field its default."""
        for module, inside in self.resolver.classes.family(name):
            if attr in module.classes[inside].places:
                return Spot(module, module.classes[inside].places[attr])
        return None

    def _option(self, frame: Frame, attr: str) -> Origin | None:
        """An option of the command line: of the files on the way here, else of any that the run has passed."""
        anew = self.note(ASSIGNED, attr, self.assigned.get(attr))
        if anew is not None:
            return anew
        module = self._with_option(frame, attr)
        if module is None:
            return None
        option = module.facts.options[attr]
        default = self.look(Frame(module, module.facts.functions[0], outer=frame), option.default)
        return Origin(default.value, Spot(module, option.span))

    def _with_option(self, frame: Frame, attr: str) -> Module | None:
        """The file that says what an option of a name is, on the way to a frame or else passed by the run."""
        around: Frame | None = frame
        base = self.watch.base if self.watch is not None else None
        while around is not None:
            if attr in around.module.facts.options:
                return around.module
            if around is base:
                return self.note(OPTION, attr, self._having(base.outer, attr))
            around = around.outer
        return self.note(PASSED, attr, self.optional(attr))

    def _having(self, frame: Frame | None, attr: str) -> Module | None:
        """The same of what is outside of a frame."""
        found = (
            (module for module in frame.modules() if attr in module.facts.options) if frame is not None else iter(())
        )
        return next(found, None) or self.optional(attr)

    def _result(self, frame: Frame, value: Result) -> Origin:
        if (read := self._table(frame, value)) is not None:
            return read
        built = self.described_by(frame, frame.module.sites[value.site]) if value.site >= 0 else None
        if built is not None:
            return Origin(Result(built, self.resolver.global_site(frame.module.path, value.site)))
        if isinstance(value.of, Member) and value.of.attr in VIEWS:
            inside = in_table(self.look(frame, value.of.base).value, value.of.attr)
            if inside is not None:
                return Origin(inside)
        if value.of in LOOKED_UP and value.site >= 0:
            given = [self.look(frame, argument.value) for argument in frame.module.sites[value.site].args]
            found = self.resolver.results.looked_up(frame.module, value, [origin.value for origin in given])
            return Origin(found, given[-1].default if found is not None else None)
        of = self.look(frame, value.of)
        if of.value is None:
            return Origin(None)
        if isinstance(of.value, Ref) and "::" in of.value.name:
            return self._called(frame, value, of.value)
        if isinstance(of.value, Ref) and isinstance(value.of, Member) and self.resolver.returns_self(of.value.name):
            return self.look(frame, value.of.base)  # `Model(...).to(device)`
        if isinstance(of.value, Member) and of.value.attr == "get" and value.site >= 0:
            # `options.get("seed")` is None unless there is one.
            site = frame.module.sites[value.site]
            if len(site.args) == 1 and isinstance(site.args[0].value, Const):
                return Origin(Const(None), Spot(frame.module, site.span))
        if of.value == self.resolver.normal(frame.module.path, value.of, frame.function):
            return Origin(self.resolver.normal(frame.module.path, value, frame.function))
        return Origin(Result(of.value, self.resolver.global_site(frame.module.path, value.site)))

    def _called(self, frame: Frame, value: Result, function: Ref) -> Origin:
        """What a function of the program gives back."""
        module, called = self.resolver.function(function) or (None, None)
        if module is None or called is None:
            return Origin(Result(function, self.resolver.global_site(frame.module.path, value.site)))
        if called.returns is None:
            return Origin(None)
        site = frame.module.sites[value.site] if 0 <= value.site < len(frame.module.sites) else None
        given = self._when_asked(frame, site, module, called) if site is not None else {}
        back = self.look(Frame(module, called, given, outer=frame), called.returns)
        return back if back.value is not None else Origin(None)

    def _either(self, frame: Frame, value: Either) -> Origin:
        one = self._chosen(frame, value)
        if one is not value:
            return self.look(frame, one)
        options = [self.look(frame, option) for option in value.options]
        if [isinstance(option, Param) for option in value.options].count(True) == 1:
            return self._replaced(value, options)
        for option in options:
            if self.entropy(option) is not None:
                return option
        values = [option.value for option in options]
        found = chosen(values[0], values[1], value.by) if "." in value.by else join(values)
        default = next((o.default for o in options if o.value == Const(None) and o.default is not None), None)
        return Origin(found, default)

    def _chosen(self, frame: Frame, value: Value | None) -> Value | None:
        """Of two values that a parameter decides between, the one that this call has; any other value as it is."""
        if not isinstance(value, Either) or not value.by:
            return value
        known, _ = self.flag(frame, Param(value.by))
        return value if known is None else value.options[0 if known else 1]

    def flag(self, frame: Frame, value: Param) -> tuple[bool | None, Spot | None]:
        """Whether a parameter is true in this call, and where its own default stands that says so; None where it isn't known, or an
        option decides."""
        given = self.literal(frame, value)
        return (bool(given.value.value), given.default) if isinstance(given.value, Const) else (None, None)

    def literal(self, frame: Frame, value: Param) -> Origin:
        """The literal that a parameter is in this call, and where its own default stands that says so; None where it isn't known, or
        an option decides."""
        given = self._parameter(frame, value)
        known = isinstance(given.value, Const) and (given.default is None or _is_parameter(given.default))
        return given if known else Origin(None)

    def is_left_at_none(self, frame: Frame, value: Param) -> bool:
        """Whether a parameter is None in this call, which leaves it out, and no option of a command line says something else."""
        given = self._parameter(frame, value)
        return given.value == Const(None) and (given.default is None or _is_parameter(given.default))

    def _replaced(self, value: Either, options: list[Origin]) -> Origin:
        """A parameter that is set anew where it is None: `if seed is None: seed = int(time.time())`."""
        pairs = list(zip(value.options, options, strict=True))
        given = next(origin for option, origin in pairs if isinstance(option, Param))
        others = [origin for option, origin in pairs if not isinstance(option, Param)]
        if isinstance(given.value, Const) and given.value.value is not None:
            return given
        if given.value == Const(None):
            return others[0]
        # `f(None if rank < 0 else 42)`: perhaps it is None.
        spots = [spot for origin in others if (spot := self.entropy(origin)) is not None]
        left_out = isinstance(given.value, Either) and Const(None) in given.value.options
        if left_out and spots:
            return Origin(Const(None), spots[0])
        # An object that some ways put another one in the place of: `if lengths: data = data.filter(fits)`.
        return Origin(join(origin.value for origin in options) if isinstance(given.value, Result) else None)

    def _expression(self, frame: Frame, value: Expression) -> Origin:
        looked = {name: self.look(frame, inner) for name, inner in value.names.items()}
        for inner in looked.values():
            if self.entropy(inner) is not None:
                return inner
        return Origin(Expression(value.text, {name: origin.value for name, origin in looked.items()}))

    def inside(self, frame: Frame, value: Value | None) -> tuple[Value | None, list[Origin]]:
        """A table or a list that a value is in this call, and what it holds; nothing of what isn't known to be one."""
        if isinstance(value, (Mapping, Items)):
            held = [self.look(frame, held) for held in value.values]
            rest, others = self.inside(frame, value.rest) if isinstance(value, Mapping) else (None, [])
            if isinstance(value, Mapping) and isinstance(rest, Mapping):
                both = dict(zip(rest.keys, others, strict=True)) | dict(zip(value.keys, held, strict=True))
                return over(value, rest), [*both.values()]
            return value, held
        if not isinstance(value, (Param, Ref)):
            return None, []  # an attribute may be set anew
        looked = self.look(frame, value)
        table = looked.value
        if isinstance(table, Mapping) and isinstance(value, Param) and self._changes(frame, value.name):
            table = msgspec.structs.replace(table, open=True)
        known = table.values if isinstance(table, (Mapping, Items)) else ()
        return table, [Origin(held, looked.default) for held in known]

    def _changes(self, frame: Frame, parameter: str) -> bool:
        """Whether a function may change the table that it gets for a parameter."""
        code = self.resolver.modules.code(frame.module.path)
        functions = code.by_name.get(frame.function.name, ()) if code is not None else ()
        for function in functions:
            self.resolver.inside(frame.module.path, function)
        return len(functions) != 1 or is_changed(functions[0], parameter)

    # -- entropy ------------------------------------------------------------------------------------------------

    def entropy(self, origin: Origin) -> Spot | None:
        """Where a value comes from that differs in every run: the clock, the process, an unseeded draw."""
        value = origin.value
        while isinstance(value, (Result, Member)):
            if isinstance(value, Result) and isinstance(value.of, Ref) and self._differs(value):
                place = self.resolver.place(value.site)
                return origin.default or (Spot(place[0], place[1].span) if place is not None else None)
            value = value.of if isinstance(value, Result) else value.base
        if isinstance(value, Expression):
            for inner in value.names.values():
                found = self.entropy(Origin(inner, origin.default)) if inner is not None else None
                if found is not None:
                    return found
        return None

    def _differs(self, made: Result) -> bool:
        """Whether what a call gives differs between runs: entropy, or a draw from a stream that isn't seeded here."""
        drawn = self.drawn(made)
        return self.note(DRAWN, drawn, self.unseeded(drawn)) if isinstance(drawn, tuple) else drawn

    # -- calls --------------------------------------------------------------------------------------------------

    def bind(self, frame: Frame, site: Site, module: Module, function: Function) -> dict[str, Origin]:
        """What a call gives the parameters of a function; one that it may give by a splat is unknown."""
        return self.give(frame, [(a.name, a.value) for a in site.args], module, function)

    def _when_asked(self, frame: Frame, site: Site, module: Module, function: Function) -> Given:
        """The same, found out where it is asked for."""
        return Given(self._taken(frame, [(a.name, a.value) for a in site.args], module.taken(function)))

    def give(
        self, frame: Frame, arguments: Arguments, module: Module, function: Function, taken: int = 0
    ) -> dict[str, Origin]:
        """The same of arguments that stand in no call.

        Args:
            taken: how many of the parameters have been given something by their positions.
        """
        return self.bound(frame, arguments, module.taken(function)[taken:])

    def bound(self, frame: Frame, arguments: Arguments, parameters: Sequence[Parameter]) -> dict[str, Origin]:
        """Arguments by the names of the parameters that take them."""
        return {name: find() for name, find in self._taken(frame, arguments, parameters).items()}

    def _taken(self, frame: Frame, arguments: Arguments, parameters: Sequence[Parameter]) -> dict[str, Found]:
        """What finds the arguments, by the names of the parameters that take them: most of what a function is given isn't asked for."""
        given: dict[str, Found] = {}
        positional = [p.name for p in parameters if not p.kind]
        beyond, splat = 0, False
        for name, raw in arguments:
            value = self._chosen(frame, raw)
            if name in ("*", "**"):
                value, inside = self.inside(frame, value)
                found = [partial(_itself, origin) for origin in inside]
                if isinstance(value, Mapping) and name == "**":
                    given.update(zip(value.keys, found, strict=True))
                    splat = splat or value.open
                elif isinstance(value, Items) and name == "*" and not splat:
                    given.update(zip(positional, found, strict=False))
                    beyond += max(len(found) - len(positional), 0)
                    del positional[: len(found)]
                else:
                    splat = True
            elif name:
                given[name] = partial(self._look_from, self.depth, frame, value)
            elif positional and not splat:
                given[positional.pop(0)] = partial(self._look_from, self.depth, frame, value)
            else:
                beyond += 1
        more = next((p.name for p in parameters if p.kind == "**"), "")
        if more:
            named = {p.name for p in parameters}
            given[more] = partial(_table_of, {k: find for k, find in given.items() if k not in named}, splat)
        others = next((p.name for p in parameters if p.kind == "*"), "")
        if others and not splat:  # how many they are tells what they are not
            given[others] = partial(_itself, Origin(Items((None,) * beyond, "tuple")))
        if splat:
            given = {p.name: partial(_itself, Origin(None)) for p in parameters if not p.kind} | given
        return given

    def _look_from(self, depth: int, frame: Frame, value: Value | None) -> Origin:
        """What a value is, asked for from where the call stands that is given it."""
        outer, self.depth = self.depth, depth
        try:
            return self.look(frame, value)
        finally:
            self.depth = outer


def _itself(origin: Origin) -> Origin:
    return origin


def _table_of(given: dict[str, Found], splat: bool) -> Origin:
    return Origin(Mapping(tuple(given), tuple(find().value for find in given.values()), open=splat))


def closed(frame: Frame | None, module: Module, name: str) -> Keyed[str, Origin]:
    """What the parameters of a function were given, by name of it in its file, in the innermost call of some."""
    while frame is not None and (frame.function.name != name or frame.module is not module):
        frame = frame.outer
    return frame.given if frame is not None else {}


def _is_parameter(spot: Spot) -> bool:
    """Whether a parameter of a function stands at a place, and no option of the command line."""
    return any(p.span == spot.span for detail in spot.module.body.details for p in detail.parameters)


def _part_of_text(value: Member) -> tuple[Value, int] | None:
    """The text, and which half of it, where a module's name and that of a part of it are told apart: `path.rsplit(".", 1)[0]`."""
    made = value.base.of if isinstance(value.base, Result) else None
    if not isinstance(made, Member) or made.attr not in ("rsplit", "rpartition"):
        return None
    last = "[1]" if made.attr == "rsplit" else "[2]"
    return (made.base, ("[0]", last).index(value.attr)) if value.attr in ("[0]", last) else None


def rests_on_name(value: Value | None) -> bool:
    """Whether what something is hangs on a name that isn't written out."""
    while isinstance(value, (Member, Result)) and not (isinstance(value, Result) and value.of in LOOKED_UP):
        value = value.base if isinstance(value, Member) else value.of
    return isinstance(value, Result)


def root_of(value: Value | None) -> Value | None:
    """What attributes and results are of, in the end."""
    while isinstance(value, (Member, Result)):
        value = value.base if isinstance(value, Member) else value.of
    return value


def is_parsed(value: Value | None, resolver: Resolver, path: str, *, sure: bool = False) -> bool:
    """Whether a value of a file is what a command line was parsed into, or may be, as a parameter may."""
    return (not sure and isinstance(root_of(value), Param)) or _is_of_parser(value, resolver, path)


def _is_of_parser(value: Value | None, resolver: Resolver, path: str, depth: int = 0) -> bool:
    """Whether a parser gives a value, or a function of the program that has it from one."""
    while isinstance(value, (Result, Member)):
        called = value.of if isinstance(value, Result) else None
        name = called.name if isinstance(called, Ref) else called.attr if isinstance(called, Member) else ""
        if name.rpartition(".")[2] in PARSES:
            return True
        normal = resolver.name(path, name) if isinstance(called, Ref) and "::" not in name else called
        home, function = resolver.function(normal) or (None, None)
        if home is not None and function is not None and depth < DEEPEST:
            given = function.returns.values if isinstance(function.returns, Items) else options(function.returns)
            if any(_is_of_parser(each, resolver, home.path, depth + 1) for each in given):
                return True
        value = value.of if isinstance(value, Result) else value.base
    return False
