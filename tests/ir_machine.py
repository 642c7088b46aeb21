"""Runs the IR of a file, with Python's own values: what it does is what the file does, unless lowering has lost something of its meaning.

`exec(source, names)` and `run(lower(ast.parse(source)), names)` do the same, but for `await`, annotations, and what looks at frames,
such as `locals()`. Every function is a generator inside, since any may be one; how a block ends is a value, and no exception of ours."""

from __future__ import annotations

import builtins
import importlib
import inspect
import types
import typing
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.records import CLASS, EITHER, GENERATOR, KEYWORD, KIND, POSITIONAL, REST, FileIR, FnIR
from detlint.ir.storage import body_of

UNSET: Final = object()
KINDS: Final = {
    POSITIONAL: inspect.Parameter.POSITIONAL_ONLY,
    EITHER: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    KEYWORD: inspect.Parameter.KEYWORD_ONLY,
    REST: inspect.Parameter.VAR_POSITIONAL,
}
LEAVING: Final = {op.BREAK: "break", op.CONTINUE: "continue"}
THEMSELVES: Final = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes of which a pattern takes the instance itself as the only part."""

Ending = tuple[str, Any] | None
"""How a block ends: None at its end, else "break", "continue", "return" or "raise" with the value."""
Steps = Generator[Any, Any, Ending]


class Block(NamedTuple):
    """A mark that opens, and what is between it, the marks that divide, and its `END`."""

    start: int
    sections: list[tuple[int, list[Any]]]
    """The mark, and the positions of ops and blocks behind it."""


class Cell:
    """A variable."""

    def __init__(self) -> None:
        self.value: Any = UNSET


class Thrown(BaseException):
    """What is thrown into a generator."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class Unpacked(list[Any]):
    """What `*value` stands for."""


def nested(ops: Sequence[tuple[int, ...]]) -> list[Any]:
    """The ops as blocks, which nest as they should."""
    found: list[Any] = []
    inside: list[tuple[list[Any], Block | None]] = [(found, None)]
    for number, (code, *_) in enumerate(ops):
        if code in op.OPENING:
            block = Block(number, [(number, [])])
            inside[-1][0].append(block)
            inside.append((block.sections[0][1], block))
        elif code in op.OF_A_BLOCK:
            current = inside.pop()[1]
            assert current is not None
            current.sections.append((number, []))
            inside.append((current.sections[-1][1], current))
        elif code == op.END:
            assert inside.pop()[1] is not None
        else:
            inside[-1][0].append(number)
    assert len(inside) == 1
    return found


def comprehended(body: FnIR, start: int | None = None) -> set[int]:
    """The slots that comprehensions and type parameters have for themselves; or of those in the comprehension that begins at a mark."""
    found, marks = set(), []
    for number, part in enumerate(body.ops):
        if part[0] in op.OPENING:
            marks.append(number)
        elif part[0] == op.END:
            marks.pop()
        elif part[0] == op.STORE:
            value = body.ops[part[2]][0]
            inside = [mark for mark in marks if body.ops[mark][0] == op.COMPREHEND]
            if value == op.TYPE_PARAMETER or (inside and value in (op.FOR, op.PART) and start in (None, inside[-1])):
                found.add(part[1])
    return found


@cache
def operator(code: int, word: str) -> Callable[..., Any]:
    """What an operator does."""
    if code == op.UNARY:
        text = f"lambda a: {word} a"
    elif code == op.AUGMENT:
        names: dict[str, Any] = {}
        exec(f"def augment(a, b):\n    a {word}= b\n    return a", names)
        return names["augment"]  # type: ignore[no-any-return]
    else:
        text = f"lambda a, b: a {word} b"
    return eval(text)  # type: ignore[no-any-return]


@cache
def taking_apart(count: int, star: int) -> Callable[[Any], list[Any]]:
    """What an assignment to several targets does; `star` is the one behind a star, or -1."""
    targets = "".join(f"{'*' * (number == star)}a{number}, " for number in range(count))
    names: dict[str, Any] = {}
    exec(f"def unpack(value):\n    {targets or '()'} = value\n    return [{targets.replace('*', '')}]", names)
    return names["unpack"]  # type: ignore[no-any-return]


class Code:
    """What is known of a function before it runs."""

    def __init__(self, ir: FileIR, number: int) -> None:
        self.number = number
        self.header = ir.functions[number]
        self.body = body_of(ir, number)
        self.ops = self.body.ops
        self.items = nested(self.ops)
        self.kind = self.header.kind & KIND
        self.name = ir.strings[self.header.name]
        self.stored = {part[1] for part in self.ops if part[0] == op.STORE}
        self.private = comprehended(self.body)
        self.prefix = ""
        while number > 0 and ir.functions[number].kind & KIND != CLASS:
            number = ir.functions[number].parent
        if number > 0:
            self.prefix = "_" + ir.strings[ir.functions[number].name].lstrip("_")

    def mangled(self, text: str) -> str:
        private = len(self.prefix) > 1 and text.startswith("__") and not text.endswith("__")
        return self.prefix + text if private else text


class Frame:
    """A function that runs."""

    def __init__(self, code: Code, around: Frame | None) -> None:
        self.code = code
        self.cells: dict[tuple[int, int], Cell] = dict(around.cells) if around else {}
        """Those of the functions around it as well."""
        self.values: dict[int, Any] = {}
        self.arms: dict[int, bool] = {}
        self.parts: dict[int, list[Any]] = {}
        self.names: Any = None
        """The names of a class body."""
        self.owner: Cell | None = around.owner if around else None
        """The class around it."""
        self.given: list[Any] | None = None
        """What the comprehension that runs has given; None in a generator."""
        for slot, name in enumerate(code.body.names):
            if name.owner == code.number and name.slot == slot:
                self.cells[code.number, slot] = Cell()

    def again(self, slots: set[int]) -> Frame:
        """The same for a comprehension, with variables of its own."""
        made = Frame(self.code, self)
        made.cells = {**self.cells, **{(self.code.number, slot): Cell() for slot in slots}}
        made.values, made.arms, made.parts = self.values.copy(), {}, {}
        made.names = self.names
        return made


class Machine:
    """A file that runs."""

    def __init__(self, ir: FileIR, names: dict[str, Any]) -> None:
        self.ir = ir
        self.codes = [Code(ir, number) for number in range(len(ir.functions))]
        self.names = names
        self.handled: list[BaseException] = []
        """The exceptions that are being handled."""

    def comes(self, frame: Frame, at: int) -> None:
        """Comes to an op, or a mark that opens a block or tests: for those who want to know."""

    # -- names ----------------------------------------------------------------------------------------------------------------

    def place(self, frame: Frame, slot: int) -> tuple[Any, Any, bool]:
        """Where a name is: in a dictionary, or in a variable; and whether it may be in what is around the dictionary."""
        code = frame.code
        name = code.body.names[slot]
        key = code.mangled(self.ir.strings[name.text])
        if name.owner == 0 and name.slot not in self.codes[0].private:
            return self.names, key, True
        of_class = name.owner == code.number and code.kind == CLASS and name.slot not in code.private
        if of_class and (key != "__class__" or name.slot in code.stored):
            return frame.names, key, True
        if key == "__class__" and self.codes[name.owner].kind == CLASS:
            assert frame.owner is not None
            return frame.owner, key, False
        return frame.cells[name.owner, name.slot], key, False

    def load(self, frame: Frame, slot: int) -> Any:
        place, key, around = self.place(frame, slot)
        if around:
            for names in (place, self.names, vars(builtins)):
                try:
                    return names[key]
                except KeyError:
                    pass
            raise NameError(key)
        if place.value is UNSET:
            raise (UnboundLocalError if frame.code.body.names[slot].owner == frame.code.number else NameError)(key)
        return place.value

    def store(self, frame: Frame, slot: int, value: Any) -> None:
        place, key, around = self.place(frame, slot)
        if around:
            place[key] = value
        else:
            place.value = value

    def delete(self, frame: Frame, slot: int) -> None:
        place, key, around = self.place(frame, slot)
        if around:
            if key not in place:
                raise NameError(key)
            del place[key]
        else:
            self.load(frame, slot)
            place.value = UNSET

    # -- functions and classes ------------------------------------------------------------------------------------------------

    def function(self, frame: Frame, number: int) -> Any:
        code = self.codes[number]
        texts = [
            code.mangled(self.ir.strings[code.body.names[slot].text]) for slot in range(len(code.header.parameters))
        ]
        signature = inspect.Signature(
            [
                inspect.Parameter(
                    text,
                    KINDS.get(parameter.kind, inspect.Parameter.VAR_KEYWORD),
                    default=frame.values[parameter.default] if parameter.default >= 0 else inspect.Parameter.empty,
                )
                for text, parameter in zip(texts, code.header.parameters, strict=True)
            ]
        )
        around = Frame(code, frame)  # the variables as they are now

        def called(*given: Any, **named: Any) -> Any:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            inner = Frame(code, around)
            for slot, text in enumerate(texts):
                inner.cells[number, slot].value = bound.arguments[text]
            steps = self.block(inner, code.items)
            return generator(steps) if code.header.kind & GENERATOR else finished(steps)

        called.__name__ = code.name
        return called

    def made_class(self, frame: Frame, number: int, bases: list[Any], named: dict[str, Any]) -> Any:
        code = self.codes[number]
        inner = Frame(code, frame)
        inner.owner = Cell()

        def fill(names: dict[str, Any]) -> None:
            inner.names = names
            names["__module__"] = self.names.get("__name__", "builtins")
            names["__qualname__"] = code.name
            finished(self.block(inner, code.items))

        made = types.new_class(code.name, tuple(bases), named, fill)
        inner.owner.value = made
        return made

    # -- blocks ---------------------------------------------------------------------------------------------------------------

    def block(self, frame: Frame, items: list[Any]) -> Steps:
        for item in items:
            self.comes(frame, item.start if isinstance(item, Block) else item)
            if isinstance(item, Block):
                ending = yield from BLOCKS[frame.code.ops[item.start][0]](self, frame, item)
                if ending:
                    return ending
                continue
            code, *operands = frame.code.ops[item]
            try:
                if code == op.YIELD:
                    frame.values[item] = yield frame.values.get(operands[0])
                elif code == op.YIELD_FROM:
                    frame.values[item] = yield from delegated(frame.values[operands[0]])
                elif code == op.GIVE:
                    key, value = (frame.values.get(operand) for operand in operands)
                    element = (key, value) if operands[1] >= 0 else key
                    if frame.given is None:
                        yield element
                    else:
                        frame.given.append(element)
                elif code == op.RETURN:
                    return "return", frame.values.get(operands[0])
                elif code in LEAVING:
                    return LEAVING[code], None
                else:
                    frame.values[item] = self.value(frame, item, code, operands)
            except Thrown as thrown:
                return "raise", thrown.error
            except BaseException as error:
                return "raise", error
        return None

    def quoted(self, frame: Frame, block: Block) -> Steps:
        return None
        yield

    def condition(self, frame: Frame, block: Block) -> Steps:
        try:
            arm = frame.arms[block.start] = bool(frame.values[frame.code.ops[block.start][1]])
        except BaseException as error:
            return "raise", error
        if not arm and len(block.sections) == 1:
            return None
        return (yield from self.block(frame, block.sections[0 if arm else 1][1]))

    def each(self, frame: Frame, block: Block) -> Steps:
        try:
            elements = iter(frame.values[frame.code.ops[block.start][1]])
        except BaseException as error:
            return "raise", error
        while True:
            try:
                frame.values[block.start] = next(elements)
            except StopIteration:
                return (yield from self.last(frame, block))
            except BaseException as error:
                return "raise", error
            ending = yield from self.block(frame, block.sections[0][1])
            if ending and ending[0] == "break":
                return None
            if ending and ending[0] != "continue":
                return ending

    def repeat(self, frame: Frame, block: Block) -> Steps:
        until = block.sections[1][0]
        while True:
            ending = yield from self.block(frame, block.sections[0][1])
            if ending:
                return ending
            self.comes(frame, until)
            try:
                if not frame.values[frame.code.ops[until][1]]:
                    return (yield from self.last(frame, block))
            except BaseException as error:
                return "raise", error
            ending = yield from self.block(frame, block.sections[1][1])
            if ending and ending[0] == "break":
                return None
            if ending and ending[0] != "continue":
                return ending

    def last(self, frame: Frame, block: Block) -> Steps:
        """The `else` of a loop or `try`."""
        for mark, items in block.sections:
            if frame.code.ops[mark][0] == op.ELSE:
                return (yield from self.block(frame, items))
        return None

    def attempt(self, frame: Frame, block: Block) -> Steps:
        ending = yield from self.block(frame, block.sections[0][1])
        handlers = [section for section in block.sections if frame.code.ops[section[0]][0] == op.EXCEPT]
        if ending and ending[0] == "raise" and handlers:
            star = frame.code.ops[handlers[0][0]][1]
            ending = yield from (self.groups if star else self.handlers)(frame, handlers, ending[1])
        elif not ending:
            ending = yield from self.last(frame, block)
        mark, items = block.sections[-1]
        if frame.code.ops[mark][0] == op.FINALLY:
            if ending and ending[0] == "raise":
                self.handled.append(ending[1])
            left = yield from self.block(frame, items)
            if ending and ending[0] == "raise":
                self.handled.pop()
            ending = left or ending
        return ending

    def handlers(self, frame: Frame, handlers: list[tuple[int, list[Any]]], error: BaseException) -> Steps:
        for _, items in handlers:
            ending, caught = yield from self.handler(
                frame, items, error, lambda kind: error if is_caught(error, kind) else None
            )
            if ending or caught:
                return ending
        return "raise", error

    def groups(self, frame: Frame, handlers: list[tuple[int, list[Any]]], error: BaseException) -> Steps:
        """`except*`"""
        whole: Any = error
        if not isinstance(error, BaseExceptionGroup):  # type: ignore[name-defined,unused-ignore]  # noqa: F821
            whole = ExceptionGroup("", [error])  # type: ignore[name-defined,unused-ignore]  # noqa: F821
        rest, raised = [whole], []

        def split(kind: Any) -> BaseException | None:
            matched, rest[0] = rest[0].split(kind) if rest[0] is not None else (None, None)
            return matched

        for _, items in handlers:
            ending, _ = yield from self.handler(frame, items, error, split)
            if ending:
                raised.append(ending[1])
        if raised:
            return "raise", ExceptionGroup("", [*raised, *filter(None, rest)])  # type: ignore[name-defined,unused-ignore]  # noqa: F821
        return ("raise", rest[0]) if rest[0] is not None else None

    def handler(
        self, frame: Frame, items: list[Any], error: BaseException, match: Callable[[Any], BaseException | None]
    ) -> Generator[Any, Any, tuple[Ending, bool]]:
        """How a handler ends, and whether it was the one."""
        ops = frame.code.ops
        at = next(
            number for number, item in enumerate(items) if not isinstance(item, Block) and ops[item][0] == op.CAUGHT
        )
        ending = yield from self.block(frame, items[:at])
        if ending:
            return ending, False
        self.comes(frame, items[at])
        kind = ops[items[at]][1]
        try:
            matched = match(frame.values[kind] if kind >= 0 else BaseException)
        except BaseException as wrong:
            return ("raise", wrong), False
        if matched is None:
            return None, False
        frame.values[items[at]] = matched
        self.handled.append(matched)
        # what it stores is gone at its end
        following = items[at + 1] if len(items) > at + 1 else None
        stores = isinstance(following, int) and ops[following][0] == op.STORE and ops[following][2] == items[at]
        slot = ops[following][1] if isinstance(following, int) and stores else None
        if slot is not None:
            assert ops[items[-1]] == (op.DELETE, slot)
            items = items[:-1]
        ending = yield from self.block(frame, items[at + 1 :])
        if slot is not None:
            self.store(frame, slot, None)
            self.delete(frame, slot)
        self.handled.pop()
        return ending, True

    def manage(self, frame: Frame, block: Block) -> Steps:
        manager = frame.values[frame.code.ops[block.start][1]]
        try:
            leave = type(manager).__exit__
            frame.values[block.start] = type(manager).__enter__(manager)
        except BaseException as error:
            return "raise", error
        ending = yield from self.block(frame, block.sections[0][1])
        raised = ending[1] if ending and ending[0] == "raise" else None
        try:
            if raised is None:
                leave(manager, None, None, None)
            elif leave(manager, type(raised), raised, raised.__traceback__):
                return None
        except BaseException as other:
            return "raise", other
        return ending

    def comprehension(self, frame: Frame, block: Block) -> Steps:
        ops = frame.code.ops
        word = next(self.ir.strings[part[1]] for part in ops if part[0] == op.COLLECT and part[2] == block.start)
        inner = frame.again(comprehended(frame.code.body, block.start))
        items = block.sections[0][1]
        if word == "generator":
            first = ops[items[0].start][1]
            try:
                inner.values[first] = iter(inner.values[first])
            except BaseException as error:
                return "raise", error
            frame.values[block.start] = generator(self.block(inner, items))
            return None
        inner.given = []
        ending = yield from self.block(inner, items)
        collect: dict[str, Any] = {"list": list, "set": set, "dict": dict}
        try:
            frame.values[block.start] = None if ending else collect[word](inner.given)
        except BaseException as error:
            return "raise", error
        return ending

    # -- values ---------------------------------------------------------------------------------------------------------------

    def value(self, frame: Frame, at: int, code: int, operands: list[int]) -> Any:
        """What an op does that neither yields nor leaves."""
        values, strings = frame.values, self.ir.strings
        if code in OF_VALUES:
            return OF_VALUES[code]([values.get(operand) for operand in operands])
        match code, operands:
            case op.CONST, [row]:
                return self.ir.constants[row]
            case op.LOAD, [slot]:
                return self.load(frame, slot)
            case op.STORE, [slot, value]:
                return self.store(frame, slot, values.get(value))  # a `type` has none: it isn't run
            case op.DELETE, [slot]:
                return self.delete(frame, slot)
            case op.ATTR, [value, text]:
                return getattr(values[value], frame.code.mangled(strings[text]))
            case op.SET_ATTR, [value, text, new]:
                return setattr(values[value], frame.code.mangled(strings[text]), values[new])
            case op.DELETE_ATTR, [value, text]:
                return delattr(values[value], frame.code.mangled(strings[text]))
            case op.BINARY | op.AUGMENT, [word, first, second]:
                return operator(code, strings[word])(values[first], values[second])
            case op.COMPARE, [first, word, second]:
                return operator(code, strings[word])(values[first], values[second])
            case op.UNARY, [word, value]:
                return operator(code, strings[word])(values[value])
            case op.CHOICE, [word, first, second]:
                if strings[word] == "if":
                    return values.get(first if frame.arms[self.decided(frame, at)] else second)
                return values[second if bool(values[first]) == (strings[word] == "and") else first]
            case op.CALL, [function, *given]:
                positional, named = self.arguments(frame, given)
                if values[function] is super and not positional and frame.owner:
                    return super(frame.owner.value, frame.cells[frame.code.number, 0].value)
                return values[function](*positional, **named)
            case op.DICT, _:
                made: dict[Any, Any] = {}
                for key, value in zip(operands[::2], operands[1::2], strict=True):
                    made.update(values[value] if key < 0 else {values[key]: values[value]})
                return made
            case op.FORMAT, [value, form, conversion]:
                converters: dict[int, Callable[[Any], Any]] = {114: repr, 115: str, 97: ascii}
                converted = converters[conversion](values[value]) if conversion > 0 else values[value]
                return format(converted, values.get(form, ""))
            case op.FUNCTION, [number, _, *decorators]:
                return self.decorated(frame, self.function(frame, number), decorators)
            case op.CLASS, [number, count, *rest]:
                made_class = self.made_class(frame, number, *self.arguments(frame, rest[count:]))
                return self.decorated(frame, made_class, rest[:count])
            case op.COLLECT, [_, mark]:
                return values[mark]
            case op.PART, [value, number, count]:
                return self.part(frame, at, value, number, count)
            case (
                op.MATCHES_VALUE
                | op.MATCHES_SINGLETON
                | op.MATCHES_SEQUENCE
                | op.MATCHES_MAPPING
                | op.MATCHES_CLASS
                | op.WITHOUT as kind,
                [subject, *rest],
            ):
                return self.matches(frame, values[subject], kind, rest)
            case op.IMPORT, [text, level, first]:
                assert level == 0
                made_module = importlib.import_module(strings[text])
                return importlib.import_module(strings[text].partition(".")[0]) if first else made_module
            case op.MEMBER, [module, text]:
                try:
                    return getattr(values[module], strings[text])
                except AttributeError:
                    raise ImportError(strings[text]) from None
            case op.STAR_IMPORT, [module]:
                names = vars(values[module])
                self.names.update(
                    {name: names[name] for name in names.get("__all__", [name for name in names if name[0] != "_"])}
                )
                return None
            case op.RAISE, [error, cause]:
                if error < 0 and not self.handled:
                    raise RuntimeError
                if error < 0:
                    raise self.handled[-1]
                if cause >= 0:
                    raise values[error] from values[cause]
                raise values[error]
            case op.ASSERT, [_, message]:
                raise AssertionError(*([values[message]] if message >= 0 else []))
            case op.TYPE_PARAMETER, [kind, _, _]:
                return getattr(typing, strings[kind])(strings[frame.code.body.names[frame.code.ops[at + 1][1]].text])
            case ((op.ANNOTATE | op.ANNOTATE_ATTR), _):
                return None
        raise AssertionError(op.NAMES[code])

    def decided(self, frame: Frame, at: int) -> int:
        """The `IF` whose arms a `CHOICE` chooses from."""
        depth = 0
        while True:
            at -= 1
            code = frame.code.ops[at][0]
            depth += (code == op.END) - (code in op.OPENING)
            if code == op.IF and not depth:
                return at

    def arguments(self, frame: Frame, given: list[int]) -> tuple[list[Any], dict[str, Any]]:
        count, *rest = given
        named: dict[str, Any] = {}
        for text, value in zip(rest[count::2], rest[count + 1 :: 2], strict=True):
            new = dict(frame.values[value]) if text < 0 else {self.ir.strings[text]: frame.values[value]}
            if named.keys() & new.keys():
                raise TypeError("given twice")
            named.update(new)
        return flat([frame.values[value] for value in rest[:count]]), named

    def decorated(self, frame: Frame, made: Any, decorators: list[int]) -> Any:
        for decorator in reversed(decorators):
            made = frame.values[decorator](made)
        return made

    def part(self, frame: Frame, at: int, value: int, number: int, count: int) -> Any:
        if count < 0:
            return attribute_at(frame.values[value], number)
        if number in (0, -1):
            stars, seen, place = -1, 0, at
            while seen < count:
                part = frame.code.ops[place]
                if part[0] == op.PART and part[1] == value:
                    stars = -1 - part[2] if part[2] < 0 else stars
                    seen += 1
                place += 1
            frame.parts[value] = taking_apart(count, stars)(frame.values[value])
        return frame.parts[value][number if number >= 0 else -1 - number]

    def matches(self, frame: Frame, subject: Any, kind: int, rest: list[int]) -> Any:
        values = frame.values
        if kind == op.MATCHES_VALUE:
            return subject == values[rest[0]]
        if kind == op.MATCHES_SINGLETON:
            return subject is values[rest[0]]
        if kind == op.MATCHES_SEQUENCE:
            if not isinstance(subject, Sequence) or isinstance(subject, str | bytes | bytearray):
                return False
            return len(subject) >= rest[0] if rest[1] else len(subject) == rest[0]
        if kind == op.MATCHES_MAPPING:
            return isinstance(subject, Mapping) and all(values[key] in subject for key in rest)
        if kind == op.WITHOUT:
            return {key: value for key, value in subject.items() if key not in [values[key] for key in rest]}
        assert kind == op.MATCHES_CLASS
        made, count, *names = values[rest[0]], rest[1], *(self.ir.strings[row] for row in rest[2:])
        if not isinstance(subject, made):
            return False
        if count > len(getattr(made, "__match_args__", [0] if issubclass(made, THEMSELVES) else [])):
            raise TypeError
        try:
            for number in range(count):
                attribute_at(subject, number)
            return all(hasattr(subject, name) for name in names)
        except AttributeError:
            return False


def attribute_at(subject: Any, number: int) -> Any:
    if isinstance(subject, THEMSELVES) and not hasattr(subject, "__match_args__"):
        return subject
    return getattr(subject, subject.__match_args__[number])


def flat(values: list[Any]) -> list[Any]:
    """Values, with those behind a star taken apart."""
    return [inner for value in values for inner in (value if isinstance(value, Unpacked) else [value])]


def is_caught(error: BaseException, kind: Any) -> bool:
    try:
        raise error
    except kind:
        return True
    except BaseException as other:
        if other is error:
            return False
        raise


def set_item(values: list[Any]) -> None:
    values[0][values[1]] = values[2]


def delete_item(values: list[Any]) -> None:
    del values[0][values[1]]


OF_VALUES: Final[dict[int, Callable[[list[Any]], Any]]] = {
    op.ITEM: lambda values: values[0][values[1]],
    op.SET_ITEM: set_item,
    op.DELETE_ITEM: delete_item,
    op.LIST: flat,
    op.TUPLE: lambda values: tuple(flat(values)),
    op.SET: lambda values: set(flat(values)),
    op.TEXT: "".join,
    op.SLICE: lambda values: slice(*values),
    op.STAR: lambda values: Unpacked(values[0]),
}
BLOCKS: Final[dict[int, Callable[[Machine, Frame, Block], Steps]]] = {
    op.IF: Machine.condition,
    op.FOR: Machine.each,
    op.WHILE: Machine.repeat,
    op.TRY: Machine.attempt,
    op.WITH: Machine.manage,
    op.COMPREHEND: Machine.comprehension,
    op.QUOTE: Machine.quoted,
}


def finished(steps: Steps) -> Any:
    """What a function gives that is no generator."""
    try:
        next(steps)
    except StopIteration as end:
        ending: Ending = end.value
    else:
        raise AssertionError("yields")
    if ending and ending[0] == "raise":
        raise ending[1]
    return ending[1] if ending else None


def generator(steps: Steps) -> Generator[Any, Any, Any]:
    """What is thrown into it goes to the innermost block, as `GeneratorExit` wouldn't of itself."""
    try:
        given = next(steps)
        while True:
            try:
                sent = yield given
            except BaseException as error:
                given = steps.throw(Thrown(error))
            else:
                given = steps.send(sent)
    except StopIteration as end:
        ending: Ending = end.value
    except Thrown as thrown:  # nobody was there any more: the garbage collector had come before
        ending = "raise", thrown.error
    if ending and ending[0] == "raise":
        raise ending[1]
    return ending[1] if ending else None


def delegated(value: Any) -> Generator[Any, Any, Any]:
    """`yield from`"""

    def plain() -> Generator[Any, Any, Any]:
        return (yield from value)

    inner = plain()
    try:
        given = next(inner)
        while True:
            try:
                sent = yield given
            except Thrown as thrown:
                given = inner.throw(thrown.error)
            else:
                given = inner.send(sent)
    except StopIteration as end:
        return end.value


def run(ir: FileIR, names: dict[str, Any]) -> None:
    """As `exec` does."""
    machine = Machine(ir, names)
    finished(machine.block(Frame(machine.codes[0], None), machine.codes[0].items))
