"""The rewrites that recipes of the catalog name: each makes of what stands at a finding what should stand there."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from detlint.catalog import Recipe, Scalar
from detlint.fixes import calls, seeding
from detlint.fixes.file import File, defaults, span_of
from detlint.fixes.recipe import NoFix, Order, Parameters
from detlint.fixes.removal import comments, has_lines, without_lines
from detlint.fixes.text import Edit, shortest
from detlint.model.sites.records import Span
from detlint.sources.nodes import walk

_DOTTED: Final = re.compile(r"<([\w.]+)>")
_PLACE: Final = re.compile(r"\{(, |!)?(\w+)(=)?\}")
_OTHER: Final = re.compile(r"<\.(\w+)>\((\))?")
_LIKE: Final = re.compile(r"\w_like$")
TABLE: Final[Parameters] = [("*", "...")]
"""What `dict` takes: keywords."""
OPTIONS: Final = frozenset({"add_argument", "option", "argument", "Option", "Argument", "field", "Field"})
"""What options of a command line and fields are made with, all of which take a `default`."""


@dataclass
class Spot:
    """Where a recipe is followed.

    Args:
        file: the file.
        order: the recipe, and what is known of the place.
    """

    file: File
    order: Order
    imports: set[str] = field(default_factory=set)
    """The imports that the rewritten code needs."""

    @property
    def span(self) -> Span:
        """What the finding stands on."""
        return self.order.span

    @property
    def parameters(self) -> Parameters:
        """The signature of what is called there; empty where it isn't known."""
        return self.order.parameters

    @property
    def api(self) -> str:
        """The name of what stands there, dotted."""
        return self.order.api

    @property
    def start(self) -> int:
        """Where the span begins."""
        return self.file.text.offset(self.span.line, self.span.column)

    @property
    def source(self) -> str:
        """What stands there."""
        start, end = self.file.text.range(self.span)
        return self.file.text.text[start:end]

    def name(self, dotted: str) -> str:
        """How the file writes a name; what it needs for it is imported."""
        written, needed = self.file.names.of(dotted, aliases=self.order.aliases(dotted))
        top = not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in self.file.around(self.span))
        if top and not needed and self.file.names.of(dotted, self.span.line, self.order.aliases(dotted))[1]:
            raise NoFix(f"`{written}` is imported only later")
        if needed:
            self.imports.add(needed)
        return written

    def sibling(self, name: str) -> str:
        """Another member of the module that what is called comes from, written as that is: `T.CenterCrop`.

        Raises:
            NoFix: the file doesn't import it from the library itself.
        """
        func = self.call().func
        if isinstance(func, cst.Attribute) and self.method:
            func = func.value  # `Function.apply`: what stands beside the class
        root, _, _ = self.api.partition(".")
        owner = calls.dotted(func).partition(".")[0]
        if not owner or self.file.names.source(owner).partition(".")[0] != root:
            raise NoFix(f"what is called doesn't come from {root} itself")
        if isinstance(func, cst.Attribute):
            return calls.written(func.with_changes(attr=cst.Name(name)))
        written, needed = self.file.names.beside(owner, name)
        if needed:
            self.imports.add(needed)
        return written

    def call(self) -> cst.Call:
        """What stands there, as a call."""
        node = calls.parse(self.source)
        if not isinstance(node, cst.Call) or _keeps(node):
            raise NoFix("it is no call")
        return node

    @property
    def method(self) -> bool:
        """Whether it is called on an object, or on a class."""
        owner = self.api.rpartition(".")[0].rpartition(".")[2]
        return not owner or owner[:1].isupper()

    @property
    def assigns(self) -> bool:
        """Whether an assignment stands there."""
        last = self.file.around(self.span)[-1]
        return isinstance(last, (ast.Assign, ast.AnnAssign)) and span_of(last) == self.span

    def statement(self) -> ast.stmt:
        """The statement that stands there, or that what stands there is all of.

        Raises:
            NoFix: it is part of something.
        """
        stands = self.file.around(self.span)
        found = next((node for node in reversed(stands) if isinstance(node, ast.stmt)), None)
        inner = found.value if isinstance(found, ast.Expr) else found
        if found is None or inner is None or self.span not in (span_of(found), span_of(inner)):
            raise NoFix("it is no statement of its own")
        return found

    def replaced(self, new: str) -> list[Edit]:
        """The edits that put other code there.

        Raises:
            NoFix: a comment would be lost.
        """
        start, end = self.file.text.range(self.span)
        new = self.exchanged(start, end, new).text
        return [shortest(self.source, new, start)] if new != self.source else []

    def exchanged(self, start: int, end: int, new: str) -> Edit:
        """The edit that puts other code between two places.

        Raises:
            NoFix: a comment would be lost.
        """
        old = self.file.text.text[start:end]
        if "#" in old and Counter(comments(old)) - Counter(comments(new)):
            raise NoFix("a comment stands inside")
        if "\r" in old:
            new = re.sub(r"\r\n|\r|\n", self.file.text.newline, new)  # LibCST writes line ends of its own
        return Edit(start, end, new)


def edits(spot: Spot) -> list[Edit]:
    """What following a recipe does to the file.

    Raises:
        NoFix: it can't be followed here.
    """
    rewrite = KINDS.get(spot.order.recipe.kind)
    if rewrite is None:
        raise NoFix(f"there is no rewrite `{spot.order.recipe.kind}`")
    return rewrite(spot.order.recipe, spot)


def _literal(value: Scalar, seed: int) -> cst.BaseExpression:
    """A value of the catalog as Python; `{seed}` stands for the number that seeds get."""
    if value == "{seed}":
        value = seed
    return calls.parse(json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value))


def _set_argument(recipe: Recipe, spot: Spot) -> list[Edit]:
    node, value = calls.parse(spot.source), _value(recipe, spot)
    owner, dot, key = recipe.argument.partition(".")
    if dot:
        table = _item(node, spot, owner)
        if not isinstance(table, cst.Dict):
            raise NoFix(f"`{owner}` is no dictionary that stands there")
        new = calls.exchanged(node, table, calls.with_item(table, key, value))
    elif isinstance(node, cst.Dict) or _called(node, spot)[1] == TABLE:
        new = _with_key(node, spot, recipe.argument, value)
    else:
        call, parameters = _called(node, spot)
        new = calls.with_argument(call, parameters, recipe.argument, value)
    return spot.replaced(calls.written(new))


def _with_key(node: cst.BaseExpression, spot: Spot, name: str, value: cst.BaseExpression) -> cst.BaseExpression:
    """A table that builds something, with an argument set where it has its arguments."""
    factory = next((f for f in spot.order.factories if f.key and _item(node, spot, f.key) is not None), None)
    if factory is not None and factory.positional and _item(node, spot, factory.positional) is not None:
        raise NoFix("its arguments are given by position")
    for key in factory.arguments if factory is not None else ():
        inner = _item(node, spot, key)
        if isinstance(inner, cst.Dict) or (isinstance(inner, cst.Call) and calls.dotted(inner.func) == "dict"):
            return calls.exchanged(node, inner, _with_key(inner, spot, name, value))
        if inner is not None:
            raise NoFix(f"`{key}` is no table that stands there")
    if factory is not None and factory.arguments:
        name, value = factory.arguments[0], calls.parse(f'{{"{name}": {calls.written(value)}}}')
    if isinstance(node, cst.Dict):
        return calls.with_item(node, name, value)
    return calls.with_argument(cst.ensure_type(node, cst.Call), TABLE, name, value)


def _add_argument(recipe: Recipe, spot: Spot) -> list[Edit]:
    """An argument that the call doesn't give yet."""
    given = _item(calls.parse(spot.source), spot, recipe.argument)
    if given is not None and calls.written(given) != "None":
        raise NoFix(f"it is given `{recipe.argument}`")
    return _set_argument(recipe, spot)


def _rename(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The same call by another name: `pool.imap` instead of `pool.imap_unordered`."""
    func = spot.call().func
    if isinstance(func, cst.Attribute):
        end = len(calls.written(func))
        start = end - len(func.attr.value)
        if spot.source[start:end] != func.attr.value:
            raise NoFix("where the name stands isn't plain")
        return [Edit(spot.start + start, spot.start + end, recipe.text)]
    new = spot.sibling(recipe.text)
    return [Edit(spot.start, spot.start + len(calls.written(func)), new)]


def _value(recipe: Recipe, spot: Spot) -> cst.BaseExpression:
    """What an argument becomes: the recipe's value, or its text with names and the seed put in."""
    return calls.parse(_filled(recipe.text, spot)) if recipe.text else _literal(recipe.value, spot.order.seed)


def _called(node: cst.BaseExpression, spot: Spot) -> tuple[cst.Call, Parameters]:
    """A call and the parameters that its arguments are for: those of the function, of a table, behind `partial(f`."""
    if not isinstance(node, cst.Call):
        raise NoFix("it is no call")
    func = calls.dotted(node.func).rpartition(".")[2]
    if func == "dict":
        return node, TABLE
    if _keeps(node):
        return node, [("", "..."), *spot.parameters]
    return node, spot.parameters


def _keeps(node: cst.Call) -> bool:
    """Whether a call only keeps another for later."""
    return calls.dotted(node.func).rpartition(".")[2] in ("partial", "partialmethod") and bool(node.args)


def _item(node: cst.BaseExpression, spot: Spot, name: str) -> cst.BaseExpression | None:
    """What a call gives for a parameter, or a table for a key."""
    if isinstance(node, cst.Dict):
        place = calls.item_of(node, name)
        return None if place is None else cst.ensure_type(node.elements[place], cst.DictElement).value
    return calls.argument(*_called(node, spot), name)


def _remove_argument(recipe: Recipe, spot: Spot) -> list[Edit]:
    call, parameters = _called(calls.parse(spot.source), spot)
    return spot.replaced(calls.written(calls.without_argument(call, parameters, recipe.argument)))


def _replace_value(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The value of an assignment, of `os.environ.setdefault`, of `os.putenv`, of `os.environ.update`."""
    target = _assigned(spot)
    start, end = spot.file.range(target)
    old, new = spot.file.text.text[start:end], calls.written(_literal(recipe.value, spot.order.seed))
    if isinstance(recipe.value, str) and old[:1] == "'" and "'" not in recipe.value:
        new = f"'{new[1:-1]}'"
    return [spot.exchanged(start, end, new)] if old != new else []


def _assigned(spot: Spot) -> ast.expr:
    """The value that the variable or attribute gets which a finding is about."""
    name = spot.api.rpartition(".")[2]
    stands = spot.file.around(spot.span)
    node = next((node for node in reversed(stands) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Call))), None)
    found: ast.expr | None = None
    if isinstance(node, ast.Call):
        tables = [arg for arg in node.args if isinstance(arg, ast.Dict)]
        items = [(key, value) for table in tables for key, value in zip(table.keys, table.values, strict=True)]
        named = [value for key, value in items if isinstance(key, ast.Constant) and key.value == name]
        named += [keyword.value for keyword in node.keywords if keyword.arg == name]
        if not tables and len(node.args) == 2 and not any(isinstance(arg, ast.Starred) for arg in node.args):
            named.append(node.args[1])
        found = named[0] if len(named) == 1 else None
    elif isinstance(node, ast.Assign):
        found = _of_target(node, name)
    elif node is not None:
        found = node.value
    if found is None:
        raise NoFix("where its value stands isn't known")
    return found


def _of_target(node: ast.Assign, name: str) -> ast.expr | None:
    """The value that one of the targets of an assignment gets, in `a, b = 1, 2` too."""
    if not isinstance(node.targets[0], (ast.Tuple, ast.List)):
        return node.value
    if len(node.targets) == 1 and isinstance(node.value, (ast.Tuple, ast.List)):
        for target, value in zip(node.targets[0].elts, node.value.elts, strict=False):
            key = target.slice if isinstance(target, ast.Subscript) else None
            if name in (getattr(target, "attr", None), getattr(key, "value", None)):
                return value
    return None


def _replace_text(recipe: Recipe, spot: Spot) -> list[Edit]:
    """A part of a string."""
    stands = spot.file.around(spot.span)[-1]
    for node in walk(stands):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and recipe.argument in node.value:
            start, end = spot.file.range(node)
            before, found, _ = spot.file.text.text[start:end].partition(recipe.argument)
            if found:
                return [Edit(start + len(before), start + len(before) + len(found), recipe.text)]
    raise NoFix("the text isn't written out there")


def _replace_target(recipe: Recipe, spot: Spot) -> list[Edit]:
    """Another attribute is assigned to: the right spelling instead of the wrong one."""
    statement, name = spot.statement(), spot.api.rpartition(".")[2]
    right = _DOTTED.fullmatch(recipe.text.replace("{member}", name))
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    found = next((t for t in targets if isinstance(t, ast.Attribute) and t.attr == name), None)
    if found is None or right is None:
        raise NoFix("it isn't assigned to alone")
    start, end = spot.file.range(found)
    owner, _, member = right[1].rpartition(".")
    if owner == spot.api.rpartition(".")[0]:
        return [Edit(end - len(name), end, member)]
    return [spot.exchanged(start, end, spot.name(right[1]))]


def _remove_statement(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The statement goes; comments stay."""
    return _without_statement(spot, spot.statement())


def _without_statement(spot: Spot, statement: ast.stmt) -> list[Edit]:
    text = spot.file.text
    start, end = spot.file.range(statement)
    blocks = (
        getattr(node, name, ()) for node in spot.file.around(spot.span) for name in ("body", "orelse", "finalbody")
    )
    alone = any(block == [statement] for block in blocks if isinstance(block, list))
    if alone or not has_lines(text, start, end):
        return [spot.exchanged(start, end, "pass")]
    return [without_lines(text, start, end)]


def _insert_before(recipe: Recipe, spot: Spot) -> list[Edit]:
    """A statement that has to stand before this one."""
    stands = spot.file.around(spot.span)
    statement = next((node for node in reversed(stands) if isinstance(node, ast.stmt)), None)
    if statement is None or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        raise NoFix("it is no statement")
    top = not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in stands)
    return seeding.inserted(spot.file, seeding.Seat([statement], None, top), [_filled(recipe.text, spot)])


def _set_default(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The default of an option, a parameter or a field: the constant that stands there, or what makes it an option gets
    one."""
    value, node = calls.written(_value(recipe, spot)), _given_default(spot)
    if isinstance(node, ast.Call):
        if _words(node.func)[-1:] and _words(node.func)[-1] not in OPTIONS:
            raise NoFix("what it makes is no option")
        named = [k.value for k in node.keywords if k.arg == "default"] or [a for a in node.args[:1] if _is_unset(a)]
        if not named:
            start, end = spot.file.range(node)
            call = cst.ensure_type(calls.parse(spot.file.text.text[start:end]), cst.Call)
            new = spot.exchanged(
                start, end, calls.written(calls.with_argument(call, TABLE, "default", calls.parse(value)))
            )
            return [shortest(spot.file.text.text[start:end], new.text, start)]
        node = named[0]
    if node is None or not _is_unset(node):
        raise NoFix("its default is no constant")
    return [spot.exchanged(*spot.file.range(node), value)]


def _given_default(spot: Spot) -> ast.expr | None:
    """The default of the parameter or the field that stands there; the expression itself where neither does."""
    around = spot.file.around(spot.span)
    last = around[-1]
    if isinstance(last, ast.arg):
        function = next(node for node in reversed(around) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
        return defaults(function).get(last.arg)
    if isinstance(last, (ast.Assign, ast.AnnAssign)):
        return last.value
    return last if isinstance(last, ast.expr) else None


def _is_unset(node: ast.expr) -> bool:
    """Whether it is a constant that leaves a seed out: None, False, -1."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, int))


def _wrap(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The expression with something around it; `value` where an iterator is kept and a list wouldn't do."""
    text, template = spot.source, recipe.text
    node = calls.parse(text)
    if isinstance(node, cst.GeneratorExp) and not node.lpar:
        text = f"({text})"
    if isinstance(node, cst.Call) and calls.dotted(node.func) == "list" and template.startswith("sorted("):
        text = calls.written(node.args[0].value) if len(node.args) == 1 and "#" not in text else text
    around = spot.file.around(spot.span)[-2:]
    if isinstance(around[0], (ast.With, ast.AsyncWith)):
        raise NoFix("a `with` block closes it")
    outer = around[0]
    if isinstance(outer, ast.Call) and getattr(outer.func, "id", "") == "list" and len(outer.args) == 1:
        start, end = spot.file.range(outer)  # `sorted` gives a list too
        if "#" not in spot.file.text.text[start:end]:
            return [Edit(start, end, _filled(template.replace("{}", "{call}"), spot, {"call": text}))]
    if isinstance(recipe.value, str) and not _iterates(outer, spot):
        template = recipe.value
    return spot.replaced(_filled(template.replace("{}", "{call}"), spot, {"call": text}))


def _iterates(node: ast.AST, spot: Spot) -> bool:
    """Whether an expression or statement only goes through what stands in it, so that a list does as well."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return span_of(node.iter) == spot.span
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return any(span_of(generator.iter) == spot.span for generator in node.generators)
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") not in ("next", "iter")
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return not re.search(rf"\b(?:next|iter)\(\s*{node.targets[0].id}\b", spot.file.text.text)
    return isinstance(node, (ast.Starred, ast.YieldFrom))


def _filled(text: str, spot: Spot, values: dict[str, str] | None = None) -> str:
    """A template of the catalog, with its places filled in (docs/catalog.md lists them).

    Args:
        values: what stands for some places; the others are arguments of the call that stands there.

    Raises:
        NoFix: the call gives nothing for a place.
    """

    if values is None:
        _complete(spot)
    table = "<." in text and _scope(spot) is not None
    used = Counter(match[2] for match in _PLACE.finditer(text))

    def put(match: re.Match[str]) -> str:
        lead, name, keyword = match[1] or "", match[2], match[3]
        if values is not None and name in values:
            return values[name]
        if name == "seed":
            return str(spot.order.seed)
        if name == "member":
            return spot.api.rpartition(".")[2]
        if name == "value" and spot.assigns:
            start, end = spot.file.range(_assigned(spot))
            return spot.file.text.text[start:end]
        value = _receiver(spot) if name == "self" else _item(calls.parse(spot.source), spot, name)
        if lead == "!" and value is not None:
            raise NoFix(f"it is given `{name}`")
        if value is None and (lead or keyword):
            return ""
        value = value or _default(spot, name)
        if used[name] > 1 and not calls.repeatable(value):
            raise NoFix(f"`{calls.written(value)}` would be computed twice")
        before, after = text[: match.start()], text[match.end() : match.end() + 1]
        argument = bool(lead) or before.endswith(("(", ", ", "="))
        if argument and after in (",", ")", "{", ""):
            written = calls.written(value)
        else:
            written = calls.attached(value) if after in (".", "[") else calls.operand(value)
        named = keyword or (table and argument and not before.endswith("="))
        return f"{lead}{name}={written}" if named else f"{lead}{written}"

    def name(match: re.Match[str]) -> str:
        return spot.sibling(match[1][1:]) if match[1][0] == "." else spot.name(match[1])

    if "<." in text and (scope := _scope(spot)) is not None:
        text = _OTHER.sub(
            lambda match: f"dict(type={scope[:-1]}{match[1]}{scope[-1]}" + (")" if match[2] else ", "), text
        )
    return _DOTTED.sub(name, _PLACE.sub(put, text))


def _complete(spot: Spot) -> None:
    """A template tells what a whole call becomes, not what `partial` keeps of one."""
    try:
        node = calls.parse(spot.source)
    except NoFix:
        return  # a statement
    if isinstance(node, cst.Call) and _keeps(node):
        raise NoFix("the call is kept for later")


def _receiver(spot: Spot) -> cst.BaseExpression:
    """What a method is called on."""
    func = spot.call().func
    if not isinstance(func, cst.Attribute):
        raise NoFix("it is called on nothing")
    return func.value


def _default(spot: Spot, name: str) -> cst.BaseExpression:
    """What a call takes for a parameter that it isn't given."""
    default = dict(spot.parameters).get(name, "...")
    if default == "...":
        raise NoFix(f"it is given no `{name}`")
    return calls.parse(repr(tuple(default) if isinstance(default, list) else default))


def _scope(spot: Spot) -> str | None:
    """What stands around the name that a table builds by, quotes included: `"torchvision/"` in
    `dict(type="torchvision/RandomCrop")`; None where no such table stands there."""
    node = calls.parse(spot.source)
    if not (isinstance(node, cst.Dict) or (isinstance(node, cst.Call) and calls.dotted(node.func) == "dict")):
        return None
    kind = _item(node, spot, "type")
    if not isinstance(kind, cst.SimpleString):
        raise NoFix("the name that it builds by isn't written out")
    name = kind.raw_value
    return f"{kind.quote}{name[: len(name) - len(re.split(r'[./]', name)[-1])]}{kind.quote}"


def _replace(recipe: Recipe, spot: Spot) -> list[Edit]:
    """Another expression in its place, or, with `argument = "statement"`, another statement. What then only gives a name
    its own value goes."""
    if recipe.argument == "statement":
        statement = spot.statement()
        if isinstance(statement, ast.Assign) and (
            len(statement.targets) > 1 or isinstance(statement.targets[0], (ast.Tuple, ast.List))
        ):
            raise NoFix("it assigns to several things")
    new = _filled(recipe.text, spot)
    above = spot.file.around(spot.span)[-2:]
    if len(above) == 2 and isinstance(above[0], ast.Assign) and span_of(above[0].value) == spot.span:
        targets = [spot.file.text.text[slice(*spot.file.range(target))] for target in above[0].targets]
        if targets == [new]:
            return _without_statement(spot, above[0])
    return spot.replaced(new)


def _replace_item(recipe: Recipe, spot: Spot) -> list[Edit]:
    """Other items of the list that it stands in, none to leave it out. Elsewhere, and as the only item, the argument is
    set that turns it off, or the template in `value` takes its place."""
    appended, listed = _appended(spot), _listed(spot)
    if appended is not None and not recipe.text:
        return _without_statement(spot, appended)
    if appended is not None:
        items = _filled(recipe.text, spot)
        if len(cst.ensure_type(calls.parse(f"[{items}]"), cst.List).elements) == 1:
            return spot.replaced(items)
        start, end = spot.file.range(appended)
        owner = spot.file.text.text[start : spot.start].rpartition(".")[0]
        return [spot.exchanged(start, end, f"{owner}.extend([{items}])")]
    if listed is not None and recipe.text:
        return spot.replaced(_in_lines(_filled(recipe.text, spot), spot))
    if listed is not None and len(listed[0]) > 1:
        return [_without_item(spot, *listed)]
    if recipe.argument:
        return _set_argument(recipe, spot)
    if not isinstance(recipe.value, str):
        raise NoFix("it stands in no list with others")
    return spot.replaced(_filled(recipe.value, spot))


def _in_lines(items: str, spot: Spot) -> str:
    """Items of a list, each on a line of its own if the one that they replace is."""
    text, elements = spot.file.text, cst.ensure_type(calls.parse(f"[{items}]"), cst.List).elements
    line = text.line(spot.span.line)
    margin = line[: spot.start - text.starts[spot.span.line - 1]]
    if margin.strip() or len(elements) == 1:
        return items
    return f",{text.newline}{margin}".join(calls.written(element.value) for element in elements)


def _appended(spot: Spot) -> ast.Expr | None:
    """The statement `pipeline.append(...)` that appends what stands there."""
    match spot.file.around(spot.span)[-3:]:
        case [ast.Expr() as statement, ast.Call(func=ast.Attribute(attr="append"), args=[only], keywords=[]), _]:
            return statement if span_of(only) == spot.span else None
    return None


def _without_item(spot: Spot, items: list[ast.expr], place: int) -> Edit:
    """A list without an item: where that has lines of its own, these go. Comments stay."""
    text = spot.file.text
    start, end = spot.file.range(items[place])
    before, after = items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None
    first, last = items[place].lineno, items[place].end_lineno or 0
    alone = not text.text[text.starts[first - 1] : start].strip() and (before is None or before.end_lineno != first)
    rest = text.line(last)[end - text.starts[last - 1] :].partition("#")[0]
    if alone and rest.strip() in (",", "") and (after is None or after.lineno > last):
        return without_lines(text, start, end)
    if after is not None:
        return spot.exchanged(start, spot.file.range(after)[0], "")
    return spot.exchanged(spot.file.range(before)[1] if before is not None else start, end, "")


def _listed(spot: Spot) -> tuple[list[ast.expr], int] | None:
    """The items of the list display that holds what is found as one of its items, and its position. The items of a tuple
    mostly mean something by their position."""
    stands = spot.file.around(spot.span)
    for node in reversed(stands):
        if isinstance(node, ast.List):
            place = next((i for i, item in enumerate(node.elts) if span_of(item) == spot.span), None)
            if place is not None:
                return node.elts, place
    return None


def _draw_on_cpu(recipe: Recipe, spot: Spot) -> list[Edit]:
    """`torch.randn(3, device=d)` becomes `torch.randn(3).to(d)`: the same numbers on any hardware."""
    call = spot.call()
    for given in ("out", "generator"):
        if calls.argument(call, spot.parameters, given) is not None:
            raise NoFix(f"with `{given}` it must be drawn where that is")
    name = calls.dotted(call.func).rpartition(".")[2] or (
        call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    )
    if name.endswith("_"):
        return _fill_on_cpu(call, spot)
    device = calls.argument(call, spot.parameters, "device")
    where = calls.written(device) if device is not None else _device_of_first(call) if name.endswith("_like") else ""
    if not where:
        raise NoFix("the device isn't given")
    required = dict(spot.parameters).get("device") == "..."
    if required or re.search(r"_like$|^new_", name):
        call = calls.with_argument(call, spot.parameters, "device", calls.parse('"cpu"'))
    else:
        call = calls.without_argument(call, spot.parameters, "device")
    call, ending = _leaf(call, spot.parameters)
    return spot.replaced(f"{calls.written(call)}.to({where}){ending}")


def _leaf(call: cst.Call, parameters: Parameters) -> tuple[cst.Call, str]:
    """A factory call without `requires_grad`, which moving would lose, and what is to follow the move instead."""
    wanted = calls.argument(call, parameters, "requires_grad")
    if wanted is None:
        return call, ""
    call = calls.without_argument(call, parameters, "requires_grad")
    text = calls.written(wanted)
    return call, {"False": "", "True": ".requires_grad_()"}.get(text, f".requires_grad_({text})")


def _fill_on_cpu(call: cst.Call, spot: Spot) -> list[Edit]:
    """`x.normal_()` becomes `x.copy_(torch.empty_like(x, device="cpu").normal_())`; a fresh tensor is made on the CPU."""
    func = cst.ensure_type(call.func, cst.Attribute)
    receiver = func.value
    if isinstance(receiver, cst.Call):
        device = next((arg for arg in receiver.args if arg.keyword is not None and arg.keyword.value == "device"), None)
        if device is None and _moves(receiver):
            moving = cst.ensure_type(receiver.func, cst.Attribute)
            filled = call.with_changes(func=func.with_changes(value=moving.value))
            return spot.replaced(calls.written(receiver.with_changes(func=moving.with_changes(value=filled))))
        alike = _LIKE.search(calls.dotted(receiver.func)) is not None
        beside = _device_of_object(receiver) if device is None else ""
        where = calls.written(device.value) if device is not None else _device_of_first(receiver) if alike else beside
        if not where or any(arg.star == "**" for arg in receiver.args):
            raise NoFix("the device isn't given")
        receiver = calls.without_argument(receiver, TABLE, "device")
        if alike or beside:
            receiver = calls.with_argument(receiver, TABLE, "device", calls.parse('"cpu"'))
        made, ending = _leaf(receiver, TABLE)
        filled = call.with_changes(func=func.with_changes(value=made))
        return spot.replaced(f"{calls.written(filled)}.to({where}){ending}")
    if not calls.plain(receiver):
        raise NoFix("what it fills would be computed twice")
    text = calls.written(receiver)
    empty = calls.parse(f'{spot.name("torch.empty_like")}({text}, device="cpu")')
    filled = call.with_changes(func=func.with_changes(value=empty))
    return spot.replaced(f"{text}.copy_({calls.written(filled)})")


def _device_of_first(call: cst.Call) -> str:
    """Where the first argument of a call lies: `x.device`; "" where that would be computed twice."""
    first = call.args[0] if call.args else None
    given = first is not None and first.keyword is None and not first.star and calls.plain(first.value)
    return f"{calls.written(first.value)}.device" if first is not None and given else ""


def _device_of_object(call: cst.Call) -> str:
    """Where the tensor lies beside which a call makes another, `x.new_empty(3)`; "" for any other call."""
    func = call.func
    made = isinstance(func, cst.Attribute) and func.attr.value.startswith("new_")
    of = cst.ensure_type(func, cst.Attribute).value if made else None
    return f"{calls.written(of)}.device" if of is not None and calls.plain(of) else ""


def _moves(call: cst.Call) -> bool:
    """Whether a call moves a tensor that nothing else has: `torch.zeros(3).cuda()`."""
    func = call.func
    moving = isinstance(func, cst.Attribute) and func.attr.value in ("cuda", "npu", "to", "xpu")
    return moving and isinstance(cst.ensure_type(func, cst.Attribute).value, cst.Call)


def _on_cpu(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The operator computes on the CPU, and its result goes back to where the first of its tensors is. What works in
    place works on a copy, which then is copied back."""
    call = spot.call()
    func, first = call.func, ""
    if isinstance(func, cst.Attribute) and spot.method and "self" in recipe.arguments:
        if not calls.plain(func.value):
            raise NoFix("what it is called on would be computed twice")
        first = calls.written(func.value)
        func = func.with_changes(value=calls.parse(f"{first}.cpu()"))
    args = [*call.args]
    for written in recipe.arguments:
        name = written.removesuffix("?")
        place = calls.find(call, spot.parameters, name) if name != "self" else None
        if place is None:
            continue
        value = args[place].value
        if not first:
            if not calls.plain(value):
                raise NoFix(f"`{name}` would be computed twice")
            first = calls.written(value)
        args[place] = args[place].with_changes(value=_moved(value, written.endswith("?")))
    if not first:
        raise NoFix("it isn't known which tensors it takes")
    moved = calls.written(call.with_changes(func=func, args=args))
    if isinstance(func, cst.Attribute) and func.attr.value.endswith("_"):
        return spot.replaced(f"{first}.copy_({moved})")
    return spot.replaced(f"{moved}.to({first}.device)")


def _moved(value: cst.BaseExpression, optional: bool) -> cst.BaseExpression:
    """A tensor on the CPU; one that may be left out stays left out."""
    text = calls.attached(value)
    if text == "None":
        return value
    if not optional:
        return calls.parse(f"{text}.cpu()")
    if not calls.plain(value):
        raise NoFix(f"`{text}` would be computed twice")
    return calls.parse(f"None if {text} is None else {text}.cpu()")


def _set_seed(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The seed takes the place of what differs in every run, together with what only makes a number of it."""
    stands = [node for node in spot.file.around(spot.span) if isinstance(node, (ast.expr, ast.stmt))]
    found = len(stands) - 1
    while found and _makes_a_number(stands[found - 1]):
        found -= 1
    if found < 1 or not _for_seed(stands[found], stands[:found], spot.order.others):
        raise NoFix("it may be more than a seed")
    return [spot.exchanged(*spot.file.range(stands[found]), calls.written(_value(recipe, spot)))]


def _makes_a_number(node: ast.AST) -> bool:
    """Whether an expression only makes another number of one: `int(x)`, `x % 1000`, `x.int`."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.left, ast.Constant) or isinstance(node.right, (ast.Constant, ast.BinOp))
    if isinstance(node, ast.Call):
        return ".".join(_words(node.func)) in ("int", "int.from_bytes", "abs", "float", "round", "str", "hash")
    return isinstance(node, ast.Attribute)


def _for_seed(node: ast.AST, around: list[ast.expr | ast.stmt], seeding: Collection[Span]) -> bool:
    """Whether an expression is nothing but a seed: the argument of a seeding call, or the value of what is called one."""
    above, words = around[-1], list[object]()
    if span_of(above) in seeding:
        return True
    if isinstance(above, ast.Call):
        words = [next((keyword.arg for keyword in above.keywords if keyword.value is node), None), *_words(above.func)]
        words += [argument.value for argument in above.args if isinstance(argument, ast.Constant)]
    elif isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        words += [word for target in targets for word in _words(target)[-1:]]
    elif isinstance(above, ast.Return):
        words += [f.name for f in around if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))][-1:]
    else:
        return False
    return any(isinstance(word, str) and "seed" in word.lower() for word in words)


def _words(node: ast.expr) -> list[str]:
    """The parts of a dotted name."""
    if isinstance(node, ast.Attribute):
        return [*_words(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


KINDS: Final[dict[str, Callable[[Recipe, Spot], list[Edit]]]] = {
    "set-argument": _set_argument,
    "add-argument": _add_argument,
    "remove-argument": _remove_argument,
    "rename": _rename,
    "replace-value": _replace_value,
    "replace-text": _replace_text,
    "replace-target": _replace_target,
    "wrap": _wrap,
    "replace": _replace,
    "replace-item": _replace_item,
    "remove-statement": _remove_statement,
    "insert-before": _insert_before,
    "set-default": _set_default,
    "set-seed": _set_seed,
    "draw-on-cpu": _draw_on_cpu,
    "on-cpu": _on_cpu,
}
"""By the names that the catalog uses."""
