"""Where a definition of a file's top level is referred to: by its name, through imports, as an attribute of its module, by a text.

What it may assume: who takes an attribute of something that isn't known may mean a definition of that name, but of its own object, and of
what has a known class; a text means it that is its name behind that of its module, or, if somebody evaluates such texts, that name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Binding, Code, Function
from detlint.ir.places import Place
from detlint.ir.words import words_in
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.sites.records import Ref

_EVALUATE: Final = frozenset({"compile", "eval", "exec"})
READERS: Final = (
    "__annotations__", "get_type_hints", "get_annotations", "signature", "getfullargspec", "jsonargparse", "LightningCLI", "pydantic",
    "tyro",
)  # fmt: skip
"""By what a program may build what an annotation names."""
TOP: Final = ""
MAIN: Final = "__main__"

Homes = Callable[[], frozenset[str]]
"""Gives the names of modules and packages by which a definition may be had."""


class Wanted:
    """A definition whose references are looked for.

    Args:
        name: its name, one of the top level.
        homes: gives the parts of the names of the modules that have it.
        stems: gives the last parts of the names of the modules that it may be imported from.
        bare: whether a text that is no more than its name may mean it.
    """

    def __init__(self, module: Module, name: str, homes: Homes, stems: Homes, bare: Callable[[], bool]) -> None:
        self.module = module
        self.name = name
        self.ref = Ref(f"{module.path}::{name}")
        self._homes = homes
        self._stems = stems
        self._bare = bare

    @cached_property
    def stems(self) -> frozenset[str]:
        """The last parts of the names of the modules that it may be imported from."""
        return self._stems()

    def is_spelled(self, text: str, *, dotted: bool = False) -> bool:
        """Whether a text means it: it ends with its name, alone or behind that of its module or a package.

        Args:
            dotted: only with such a name.
        """
        if not text.endswith(self.name):
            return False
        before = text.removesuffix(self.name)
        if not before:
            return not dotted and self._bare()
        home = before.rstrip("./:").replace("/", ".").replace(":", ".").rpartition(".")[2]
        return before[-1] in "./:" and home in self._homes()


def is_spelled(text: str, name: str) -> bool:
    """Whether a text is a name, alone or behind that of a module: `package.module:Name`."""
    return text == name or text.endswith((f".{name}", f":{name}", f"/{name}"))


def own(code: Code, name: str) -> Iterator[Place]:
    """The references of a definition in its own file, but those by a text: wherever its name is read."""
    for slot in code.module.slots.get(name, ()):
        if slot not in code.module.private:
            yield from _read(code, Binding(0, slot))


def _read(code: Code, binding: Binding) -> Iterator[Place]:
    """Where a variable is read, but what is never come to."""
    return (Place(function, at) for function, at in code.reads(binding) if not function.is_dead(at))


def texts(code: Code, wanted: Wanted, *, dotted: bool = False) -> Iterator[Place]:
    """The constants that spell it, but those that only list what the file gives out (`__all__`)."""
    rows = {
        row
        for row, value in enumerate(code.constants)
        if isinstance(value, str) and wanted.is_spelled(value, dotted=dotted)
    }
    asked = {row for row, value in enumerate(code.constants) if value == wanted.name}
    may_evaluate = not _EVALUATE.isdisjoint(code.identifiers)
    said = {row for row, value in enumerate(code.constants) if isinstance(value, str) and wanted.name in value} - rows
    for function in code.functions() if rows or asked or (said and may_evaluate) else ():
        for at, operation in function.each(op.CONST):
            row = operation[1]
            is_asked = row in asked and _is_asked_for(function, at)
            if row in rows or is_asked or (row in said and may_evaluate and _is_code(function, at, wanted.name)):
                yield Place(function, at)


def spelling(code: Code, names: Collection[str]) -> Iterator[Place]:
    """The texts in the code of a file that are one of some names."""
    for function in code.functions() if not code.texts.isdisjoint(names) else ():
        for at, _ in function.each(op.CONST):
            if function.constant(at) in names:
                yield Place(function, at)


def saying(code: Code, names: Collection[str]) -> Iterator[Place]:
    """Where the code of a file has something of one of some names, or a text that is one."""
    yield from spelling(code, names)
    for function in code.functions():
        for at, operation in function.each(op.LOAD, op.ATTR):
            said = function.text(operation[1]) if operation[0] == op.LOAD else code.strings[operation[2]]
            if said in names:
                yield Place(function, at)


def _is_code(function: Function, at: int, name: str) -> bool:
    """Whether a constant is evaluated, or a part of what is, and has a name: `eval("layers.Net()")`."""
    text = function.constant(at)
    if not isinstance(text, str) or name not in words_in(text):
        return False
    waiting = [Place(function, at)]
    for home, value in waiting:
        made = list[Place]()
        for use in home.users[value]:
            taking = home.ops[use.op]
            if taking[0] == op.STORE:
                made += (Place(*read) for read in home.code.reads(home.binding(taking[1])))
            elif taking[0] != op.CALL or use.place == 1:
                made.append(Place(home, use.op))
            elif home.dotted(taking[1]) in _EVALUATE:
                return True
        waiting += (place for place in made if place not in waiting)
    return False


def _is_asked_for(function: Function, at: int) -> bool:
    """Whether something is asked for what has the name that a constant is: `getattr(module, "name")`."""
    uses = (use for use in function.users[at] if function.ops[use.op][0] == op.CALL)
    return any(function.dotted(function.ops[use.op][1]).endswith("attr") for use in uses)


def elsewhere(meaning: Meaning, wanted: Wanted, name: str) -> Iterator[Place]:
    """The references of a definition in another file, which may have it by a name.

    Args:
        name: its own, or the one by which another file has imported it.
    """
    code = meaning.code
    if name not in code.identifiers:
        return
    for function in code.functions():
        for at, operation in enumerate(function.ops):
            code_of = operation[0]
            if code_of == op.MEMBER and code.strings[operation[2]] == name:
                if _imports(meaning, function, at, wanted):
                    yield from _bound(function, at)
            elif code_of == op.ATTR and code.strings[operation[2]] == name:
                if _is_attribute(meaning, function, at, wanted) and not function.is_dead(at):
                    yield Place(function, at)
            elif code_of == op.LOAD and function.text(operation[1]) == name and not function.is_dead(at):
                yield from [Place(function, at)] if _is_by_star(meaning, function, at, wanted) else ()


def renamed(meaning: Meaning, wanted: Wanted, name: str) -> Iterator[str]:
    """The names that a file's top level gives what it imports, other than that by which it is had."""
    code = meaning.code
    for at, operation in code.module.each(op.MEMBER) if name in code.identifiers else ():
        if code.strings[operation[2]] == name and _imports(meaning, code.module, at, wanted):
            stored = (code.module.ops[use.op] for use in code.module.users[at])
            yield from (new for s in stored if s[0] == op.STORE and (new := code.module.text(s[1])) != name)


def imports(meaning: Meaning, wanted: Wanted, name: str) -> bool:
    """Whether a file imports it by a name, wherever it does."""
    return any(
        code.strings[operation[2]] == name and _imports(meaning, function, at, wanted)
        for code in (meaning.code,)
        if name in code.identifiers
        for function in code.functions()
        for at, operation in function.each(op.MEMBER)
    )


def only_hints(code: Code, name: str) -> bool:
    """Whether all that a file does with what it imports, or comes to, by a name is to say of which class something is."""
    strings = code.strings
    for function in code.functions():
        for at, operation in function.each(op.LOAD, op.ATTR, op.MEMBER):
            said = function.text(operation[1]) if operation[0] == op.LOAD else strings[operation[2]]
            if said != name:
                continue
            stores = (function.ops[use.op] for use in function.users[at]) if operation[0] == op.MEMBER else ()
            renamed = any(store[0] != op.STORE or function.text(store[1]) != name for store in stores)
            if renamed or (operation[0] != op.MEMBER and not function.is_hint(at)):
                return False
    return not any(is_spelled(text, name) for text in code.texts)


def _imports(meaning: Meaning, function: Function, at: int, wanted: Wanted) -> bool:
    """Whether what is imported is it, or comes from a module of the same name that isn't found: where its script is run from decides
    what that is."""
    found = meaning.value(function, at)
    if found == wanted.ref:
        return True
    if isinstance(found, Ref) and "::" in found.name:
        return False
    source = meaning.imported(function, function.ops[at][1])
    return source.rpartition(".")[2] in wanted.stems


def _is_by_star(meaning: Meaning, function: Function, at: int, wanted: Wanted) -> bool:
    """Whether a name of the top level may be what the file has imported with all that another one has, although it may bind that, too."""
    owner, slot = function.binding(function.ops[at][1])
    top = function.code.module
    if owner:
        return False
    if slot < 0:
        return meaning.value(function, at) == wanted.ref
    if slot in top.private or wanted.ref not in meaning.starred(function.text(function.ops[at][1])):
        return False
    if function is top:
        reaching = top.flow.reaching.get(at, ())
        return any(found < 0 or top.ops[found][0] == op.STAR_IMPORT for found in reaching)
    last = max(star for star, _ in top.each(op.STAR_IMPORT))
    return not any(part[1] == slot and top.flow.blocks[n] < 0 for n, part in top.each(op.STORE) if n > last)


def _bound(function: Function, at: int) -> Iterator[Place]:
    """Where what is imported is read, by the name that it gets."""
    for use in function.users[at]:
        stored = function.ops[use.op]
        if stored[0] == op.STORE:
            yield from _read(function.code, function.binding(stored[1]))


def _is_attribute(meaning: Meaning, function: Function, at: int, wanted: Wanted) -> bool:
    """Whether an attribute of its name may be it."""
    found = meaning.value(function, at)
    if found == wanted.ref:
        return True
    base = function.ops[at][1]
    root, _ = function.chain(base)
    if function.parameter(root) == 0 and function.parent is not None and function.parent.is_class:
        return False
    holder = meaning.value(function, base)
    if isinstance(holder, Ref):
        last = holder.name.removesuffix("::").removesuffix(".py").replace("/", ".").rpartition(".")[2]
        return "::" not in holder.name and last in wanted.stems
    return not (isinstance(found, Ref) or meaning.kind(function, base))


def listed(code: Code) -> Sequence[str]:
    """What the top level lists for those who import all of the file."""
    found = []
    for at, operation in code.module.each(op.STORE):
        if code.module.text(operation[1]) == "__all__":
            found += [
                c for part in code.module.within(operation[2]) if isinstance(c := code.module.constant(part), str)
            ]
        del at
    return found


def is_listed(place: Place) -> bool:
    """Whether a constant only lists what a file gives out."""
    uses = [*place.function.ends(place.at, (op.LIST, op.TUPLE, op.BINARY, op.AUGMENT, op.STAR))]
    taking = [place.function.ops[use.op] for use in uses]
    return bool(uses) and all(part[0] == op.STORE and place.function.text(part[1]) == "__all__" for part in taking)


def block_of(place: Place) -> str:
    """The definition of the top level in which a place stands, or from which it derives; `MAIN` and `TOP` for others."""
    function, at = place
    if function.number:
        return function.outermost.name
    classes = [function.ops[use.op] for use in function.users[at] if function.ops[use.op][0] == op.CLASS]
    if classes and len(classes) == len(function.users[at]):
        return function.code.function(classes[0][1]).name
    return MAIN if function.is_main(at) else TOP


def _calls_own(body: Function) -> bool:
    """Whether the body of a class, or of one inside, calls a definition of the file, or has one decorate something."""
    for at, operation in enumerate(body.ops):
        kind = operation[0]
        called = (
            operation[1:2]
            if kind == op.CALL
            else operation[3 : 3 + operation[2]]
            if kind in (op.FUNCTION, op.CLASS)
            else ()
        )
        roots = (body.ops[body.chain(value).root] for value in called)
        if any(root[0] == op.LOAD and body.binding(root[1]) in body.code.defined for root in roots):
            return True
        if kind == op.CLASS and _calls_own(body.code.function(operation[1])):
            return True
        del at
    return False


def replaced(code: Code) -> frozenset[int]:
    """The definitions of the top level, by number, that a later one of the same name replaces before anything may come to them: between
    the two, nothing reads the name, calls or imports something, or is decorated."""
    top, found, last = code.module, set[int](), dict[int, int]()
    for at, operation in enumerate(top.ops):
        kind = operation[0]
        defines = kind in (op.FUNCTION, op.CLASS)
        calls = kind == op.CLASS and _calls_own(code.function(operation[1]))
        if kind in (op.CALL, op.IMPORT) or (defines and operation[2]) or calls:
            last.clear()
        elif kind == op.LOAD:
            last.pop(operation[1], None)
        elif kind == op.STORE:
            made, before = top.ops[operation[2]], last.pop(operation[1], -1)
            if made[0] not in (op.FUNCTION, op.CLASS) or made[2]:
                continue
            if before >= 0 and top.flow.blocks[before] == top.flow.blocks[at]:
                found.add(top.ops[top.ops[before][2]][1])
            last[operation[1]] = at
    return frozenset(found)
