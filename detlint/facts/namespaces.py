"""Options that a command line doesn't have: to read one of what argparse gives raises AttributeError.

A parser is understood where all that its file does with it is to add options with literal names; what it gives, where nothing but
attributes is taken of it before. Anything else may add some, and nothing is said then.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from detlint.facts.nodes import walk

_PARSED: Final = re.compile(
    rb"(?<![\w.])(\w+)(?:\s*,\s*\w+)?\s*=\s*(?:\w+\.parse_(?:known_)?args|(\w*(?:pars|arg|opt|conf|flags)\w*))\(", re.I
)
"""What may keep what a command line was parsed into, and the function that may have done it."""
_WORDS: Final = re.compile(rb"[\"']-{0,2}([\w-]+)[\"']|(?<![\w.])dest\s*=\s*[\"'](\w+)|(?<![\w.-])(\w+)\s*=")
_GROUPS: Final = frozenset({"add_argument_group", "add_mutually_exclusive_group"})
_PARSES: Final = frozenset({"parse_args", "parse_known_args"})
_HARMLESS: Final = frozenset(
    {"error", "exit", "format_help", "format_usage", "get_default", "print_help", "print_usage"}
)
_LOOKS: Final = frozenset({"format", "getattr", "hasattr", "isinstance", "print", "repr", "str", "type"})
_OWN: Final = frozenset(
    {"description", "usage", "prog", "formatter_class", "add_help", "epilog", "allow_abbrev", "conflict_handler"}
)
"""What a parser may be told that gives it no other options."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def lacking(tree: ast.Module, data: bytes) -> set[ast.Attribute]:
    """The reads of options that no parser of the file defines, where what is read is surely what such a parser gave."""
    if b"argparse" not in data:
        return set()
    kept = {m[1] for m in _PARSED.finditer(data) if m[2] is None or b"def %b(" % m[2] in data}
    if not kept:
        return set()
    reads = re.findall(rb"(?<![\w.])(?:" + b"|".join(kept) + rb")\s*\.\s*(\w+)\b(?!\s*=[^=])", data)
    said = {word.replace(b"-", b"_") for match in _WORDS.finditer(data) for word in match.groups() if word}
    if said.issuperset(reads):
        return set()
    return _File(tree).lacking()


class _File:
    """One file, with what stands around each node."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.around: dict[ast.AST, ast.AST] = {}
        self.names: dict[str, list[ast.Name]] = {}
        self.bound: dict[ast.AST, set[str]] = {}
        """The parameters and variables of each function, and of the module."""
        self.modules: set[str] = set()
        """What the file calls argparse's class."""
        self.declared: set[str] = set()
        """Names that functions have of what is around them."""
        for node in walk(tree):
            for child in ast.iter_child_nodes(node):
                self.around[child] = node
        for node in self.around:
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self.names.setdefault(node.id, []).append(node)
            if not isinstance(node.ctx, ast.Load):
                self._bind(node, node.id)
        elif isinstance(node, ast.arg):
            self._bind(node, node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self.declared.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            source = node.module if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                if f"{source}.{alias.name}".lstrip(".") in ("argparse", "argparse.ArgumentParser"):
                    self.modules.add(f"{alias.asname or alias.name}{'' if source else '.ArgumentParser'}")

    def _bind(self, node: ast.AST, name: str) -> None:
        self.bound.setdefault(self.home(node), set()).add(name)

    def home(self, node: ast.AST) -> ast.AST:
        """The function that a node stands in, or the module."""
        node = self.around.get(node, self.tree)
        while not isinstance(node, (*_FUNCTIONS, ast.Module)):
            node = self.around[node]
        return node

    def meant(self, name: str, home: ast.AST) -> list[ast.Name]:
        """All places where a name means the variable of a function, or of the module."""
        return [node for node in self.names.get(name, ()) if self._owner(node) is home]

    def _owner(self, name: ast.Name) -> ast.AST:
        home = self.home(name)
        while home is not self.tree and name.id not in self.bound.get(home, ()):
            home = self.home(home)
        return home

    def lacking(self) -> set[ast.Attribute]:
        given = dict(self.givers())
        found: set[ast.Attribute] = set()
        for node in self.around:
            if isinstance(node, ast.Call):
                options = self.options(node, given)
                kept = self.kept(node) if options is not None else None
                if options is not None and kept is not None:
                    found |= self.lacking_in(kept, options)
        return found

    def givers(self) -> Iterator[tuple[str, set[str]]]:
        """The functions of the top level that give back what they parse, and the options in it."""
        for statement in self.tree.body:
            if not isinstance(statement, ast.FunctionDef) or statement.decorator_list:
                continue
            inside = [node for node in walk(statement) if self.home(node) is statement]
            backs = [node.value for node in inside if isinstance(node, ast.Return)]
            others = [s for s in self.tree.body if getattr(s, "name", "") == statement.name]
            if len(backs) != 1 or len(others) > 1 or statement.name in self.bound.get(self.tree, ()):
                continue
            back = backs[0]
            if isinstance(back, ast.Call):
                options = self.options(back, {}) if not _gives_two(back) else None
            else:
                options = self.options_of(back, statement) if isinstance(back, ast.Name) else None
            if options is not None and not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside):
                yield statement.name, options

    def options_of(self, back: ast.Name, function: ast.AST) -> set[str] | None:
        """The options in what a function keeps and gives back, if it does nothing else with it."""
        for node in self.meant(back.id, function):
            call = self.around[node]
            if isinstance(call, ast.Assign) and isinstance(call.value, ast.Call):
                options = self.options(call.value, {})
                kept = self.kept(call.value) if options is not None else None
                if options is None or kept is None or self.leaks(kept, but=back):
                    return None
                return options | self.set_on(kept)
        return None

    def options(self, call: ast.Call, given: Mapping[str, set[str]]) -> set[str] | None:
        """The options in what a call gives, if it parses a command line."""
        function = call.func
        if isinstance(function, ast.Name):
            return given.get(function.id) if self._owner(function) is self.tree else None
        if not (
            isinstance(function, ast.Attribute) and function.attr in _PARSES and isinstance(function.value, ast.Name)
        ):
            return None
        if len(call.args) > 1 or any(keyword.arg != "args" for keyword in call.keywords):
            return None
        return self.defined(function.value.id, self._owner(function.value))

    def defined(self, parser: str, home: ast.AST, group: bool = False) -> set[str] | None:
        """The options of a parser, or of a group of them, by its name; None if anything else may be done with it."""
        options: set[str] = set()
        made = 0
        for node in self.meant(parser, home):
            parent = self.around[node]
            if isinstance(parent, ast.Assign):
                made += 1
                if parent.targets != [node] or not (group or self.makes(parent.value)):
                    return None
                continue
            more = self.called(parent)
            if more is None:
                return None
            options |= more
        return options if made == 1 else None

    def called(self, method: ast.AST) -> set[str] | None:
        """The options that a parser has from what is done with it; None for anything but to call a method that is known."""
        call = self.around.get(method)
        if not (isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and call.func is method):
            return None
        return self.added(method.attr, call)

    def makes(self, value: ast.expr) -> bool:
        """Whether an expression is a new parser without any options."""
        if not isinstance(value, ast.Call) or ast.unparse(value.func) not in self.modules:
            return False
        return len(value.args) <= 3 and all(keyword.arg in _OWN for keyword in value.keywords)

    def added(self, method: str, call: ast.Call) -> set[str] | None:
        """The options that the call of a parser's method adds; None where that can't be known."""
        if method == "add_argument":
            return _named(call)
        if method == "set_defaults":
            names = {keyword.arg for keyword in call.keywords}
            return {name for name in names if name} if None not in names else None
        if method in _GROUPS:
            return self.grouped(call)
        return set() if method in _PARSES or method in _HARMLESS else None

    def grouped(self, call: ast.Call) -> set[str] | None:
        """The options of a group that is made."""
        parent = self.around[call]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self.defined(parent.targets[0].id, self._owner(parent.targets[0]), group=True)
        return self.called(parent)

    def kept(self, call: ast.Call) -> ast.Name | None:
        """The name that keeps what a command line was parsed into, if nothing else ever is under it."""
        parent = self.around[call]
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return None
        target = parent.targets[0]
        if _gives_two(call):
            target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else call
        if not isinstance(target, ast.Name) or target.id in self.declared:
            return None
        stores = [node for node in self.meant(target.id, self._owner(target)) if not isinstance(node.ctx, ast.Load)]
        return target if len(stores) == 1 else None

    def set_on(self, kept: ast.Name) -> set[str]:
        """The attributes that are set on what a name keeps."""
        parents = (self.around[node] for node in self.meant(kept.id, self._owner(kept)))
        return {p.attr for p in parents if isinstance(p, ast.Attribute) and not isinstance(p.ctx, ast.Load)}

    def leaks(self, kept: ast.Name, but: ast.Name | None = None) -> list[ast.Name]:
        """Where more is done with what a name keeps than to read and set its attributes, and to look at it."""
        return [n for n in self.meant(kept.id, self._owner(kept)) if n not in (kept, but) and not self.is_read(n)]

    def is_read(self, name: ast.Name) -> bool:
        parent = self.around[name]
        if isinstance(parent, ast.Attribute):
            return not parent.attr.startswith("_")
        if isinstance(parent, ast.Call):
            return isinstance(parent.func, ast.Name) and parent.func.id in _LOOKS
        return isinstance(parent, ast.FormattedValue)

    def lacking_in(self, kept: ast.Name, options: set[str]) -> set[ast.Attribute]:
        """The attributes that are read of what a name keeps, and that it surely doesn't have."""
        home = self._owner(kept)
        known = options | self.set_on(kept)
        leaks = self.leaks(kept)
        first = min((node.lineno for node in leaks), default=None)
        if any(self.home(node) is not home for node in leaks):
            first = 0  # a function has it, which may run at any time
        elif self.around[self.around[kept]] is self.tree and first is None:
            first = sys.maxsize  # files that import it may set some between calls of its functions
        found = set()
        for node in self.meant(kept.id, home):
            read = self.around[node]
            if not isinstance(read, ast.Attribute) or read.attr in known or read.attr.startswith("_"):
                continue
            if kept.lineno < node.lineno and (first is None or (node.lineno < first and self.home(node) is home)):
                found.add(read)
        return found


def _gives_two(call: ast.Call) -> bool:
    """Whether a call gives what it has parsed, and what is left."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "parse_known_args"


def _named(call: ast.Call) -> set[str] | None:
    """The attribute that an option is read by."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    flags = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    action = given.get("action")
    if None in given or len(flags) < len(call.args) or not (action is None or isinstance(action, ast.Constant)):
        return None
    texts = [flag for flag in flags if isinstance(flag, str)]
    if "dest" in given:
        dest = given["dest"]
        return {dest.value} if isinstance(dest, ast.Constant) and isinstance(dest.value, str) else None
    if not texts:
        return None
    first = next((text for text in texts if text.startswith("--")), texts[0])
    return {first.lstrip("-").replace("-", "_") if first.startswith("-") else first}
