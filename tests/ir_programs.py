"""Programs by chance, which tell what they do and come to an end: loops are short, and functions call only those before them."""

from __future__ import annotations

from random import Random

NAMES = ("a", "b", "c", "x", "__p")
ERRORS = ("ValueError", "KeyError(1)", "tell(OSError)", "StopIteration", "TypeError from None")


class Maker:
    """Makes one program."""

    def __init__(self, random: Random, size: int = 40) -> None:
        self.random = random
        self.left = size
        self.functions: list[tuple[str, bool]] = []
        """Those that may be called, and whether they are generators."""
        self.count = 0

    def program(self) -> str:
        """Its text."""
        lines = [f"{name} = {number}" for number, name in enumerate(NAMES) if self.chance(0.9)]
        while self.left > 0:
            made = self.statement("module", loops=False)
            caught = ["try:", *["    " + line for line in made], "except Exception as e: tell('caught', type(e))"]
            lines += made if self.chance(0.2) else caught
        for name in NAMES:
            lines += [f"try: tell({name})", "except NameError: tell('none')"]
        return "\n".join([*lines, ""])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self) -> str:
        return self.random.choice(NAMES)

    # -- expressions ----------------------------------------------------------------------------------------------------------

    def value(self, depth: int = 0, walrus: bool = True) -> str:
        kinds = ["name", "name", "number", "list"]
        if depth < 3:
            kinds += [
                "binary",
                "compare",
                "boolean",
                "either",
                "tell",
                "item",
                "text",
                "display",
                "lambda",
                "call",
                "unary",
            ]
            kinds += ["comprehension"]
        kind = self.random.choice(kinds)
        inner = [self.value(depth + 1, walrus) for _ in range(3)] if depth < 3 else []
        if kind == "name":
            return self.name()
        if kind == "number":
            return self.random.choice(["0", "1", "2", "-1", "''", "'ab'", "None", "1.5", "()"])
        if kind == "list":
            return f"[{self.name()}, {self.name()}]"
        if kind == "binary":  # nothing that makes large values out of small ones in a few rounds
            return f"({inner[0]} {self.random.choice(['+', '-', '//', '%', '&', '|'])} {inner[1]})"
        if kind == "compare":
            first, second = (self.random.choice(["<", "==", "!=", ">=", "in", "is not"]) for _ in range(2))
            return f"({inner[0]} {first} {inner[1]} {second} {inner[2]})"
        if kind == "boolean":
            first, second = (self.random.choice(["and", "or"]) for _ in range(2))
            return f"({inner[0]} {first} {inner[1]} {second} {inner[2]})"
        if kind == "either":
            return f"({inner[0]} if {inner[1]} else {inner[2]})"
        if kind == "unary":
            return f"({self.random.choice(['-', 'not ', '~'])}{inner[0]})"
        if kind == "item":
            index = self.random.choice([inner[1], f"{inner[1]}:{inner[2]}", "-1"])
            return f"[{inner[0]}, {self.name()}][{index}]"
        if kind == "text":
            return f"f'{{{self.name()}!r:>{{{self.random.randint(1, 9)}}}}}-{{{self.name()}}}'"
        if kind == "display":
            return self.random.choice(
                [
                    f"[*{inner[0]}, {inner[1]}]",
                    f"({inner[0]}, *{inner[1]})",
                    f"{{'k': {inner[0]}, **{{'l': {inner[1]}}}}}",
                ]
            )
        if kind == "lambda":
            return f"(lambda {self.name()}, *, k={inner[0]}: ({inner[1]}, k))({inner[2]})"
        if kind == "comprehension":
            return self.comprehension(depth, walrus)
        if kind == "call" and self.functions:
            name, generates = self.random.choice(self.functions)
            called = f"{name}({self.random.choice([inner[0], f'*[{inner[0]}]', f'{inner[0]}, q={inner[1]}'])})"
            return f"[*{called}]" if generates else called
        if walrus and self.chance(0.3):
            return f"({self.random.choice('abcx')} := {inner[0]})"
        return f"tell({inner[0]}, {inner[1]})" if inner else "tell()"

    def comprehension(self, depth: int, walrus: bool) -> str:
        target = self.random.choice([self.name(), f"{self.name()}, *{self.name()}", f"[{self.name()}]"])
        source = self.random.choice(
            ["range(3)", f"[{self.value(depth + 1, False)}, [1, 2]]", self.value(depth + 1, False)]
        )
        rest = f" for {self.name()} in range(2)" if self.chance(0.3) else ""
        rest += f" if {self.value(depth + 1, False)}" if self.chance(0.4) else ""
        element = self.value(depth + 1, False)
        if walrus and self.chance(0.3):
            element = f"(w := {element})"
        if self.chance(0.3):
            element = f"(lambda: {element})()" if "w :=" not in element else element
        clauses = f"for {target} in {source}{rest}"
        return self.random.choice(
            [f"[{element} {clauses}]", f"list({element} {clauses})", f"{{1: {element} {clauses}}}"]
        )

    # -- statements -----------------------------------------------------------------------------------------------------------

    def block(self, where: str, loops: bool) -> list[str]:
        lines = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(where, loops)]
        return ["    " + line for line in lines]

    def statement(self, where: str, loops: bool) -> list[str]:
        self.left -= 1
        simple = [
            "assign",
            "assign",
            "tell",
            "tell",
            "augment",
            "unpack",
            "delete",
            "raise",
            "assert",
            "value",
            "import",
            "attribute",
        ]
        simple += ["return"] if where in ("function", "generator") else []
        simple += ["break", "continue"] if loops else []
        simple += ["yield"] * 2 if where == "generator" else []
        compound = ["if", "for", "while", "try", "try", "with", "def", "def", "class", "match"]
        kind = self.random.choice(simple + compound if self.left > 0 else simple)
        walrus = where != "class"
        value = self.value(walrus=walrus)
        name = self.name()
        if kind == "tell" or kind == "value":
            return [f"tell({value}, {name})" if kind == "tell" else value]
        if kind == "assign":
            return [
                self.random.choice([f"{name} = {value}", f"{name}: int = {value}", f"{self.name()} = {name} = {value}"])
            ]
        if kind == "augment":
            return [f"{name} {self.random.choice(['+', '//', '-'])}= {value}"]
        if kind == "unpack":
            targets = self.random.choice(
                [f"{name}, {self.name()}", f"{name}, *{self.name()}", f"({name}, [{self.name()}])"]
            )
            return [f"{targets} = {value}, {self.value(walrus=walrus)}"]
        if kind == "delete":
            return [f"del {name}"]
        if kind == "raise":
            return [f"if {value}: raise {self.random.choice(ERRORS)}"]
        if kind == "assert":
            return [f"assert {value}, {self.value(walrus=walrus)}"]
        if kind == "import":
            return [self.random.choice([f"import math as {name}", f"from math import pi as {name}", "import os.path"])]
        if kind == "attribute":
            return [f"tell.at = {{}}; tell.at[{value}] = {name}; tell.at[1] = 2; tell.at[1] += {name}; tell(tell.at)"]
        if kind == "return":
            return [f"return {value}"]
        if kind in ("break", "continue"):
            return [f"if {value}: {kind}"]
        if kind == "yield":
            return [self.random.choice([f"{name} = yield {value}", f"yield {value}", "yield from [1, 2]"])]
        return getattr(self, f"_{kind}")(where, loops, value)  # type: ignore[no-any-return]

    def _if(self, where: str, loops: bool, value: str) -> list[str]:
        lines = [f"if {value}:", *self.block(where, loops)]
        if self.chance(0.4):
            lines += [f"elif {self.value(walrus=where != 'class')}:", *self.block(where, loops)]
        return [*lines, "else:", *self.block(where, loops)] if self.chance(0.5) else lines

    def _for(self, where: str, loops: bool, value: str) -> list[str]:
        source = self.random.choice(["range(3)", f"[{value}, 2]", value])
        lines = [f"for {self.name()} in {source}:", *self.block(where, True)]
        return [*lines, "else:", *self.block(where, loops)] if self.chance(0.4) else lines

    def _while(self, where: str, loops: bool, value: str) -> list[str]:
        self.count += 1
        count = f"n{self.count}"
        lines = [f"{count} = 0", f"while {count} < 3 and {value}:", f"    {count} += 1", *self.block(where, True)]
        return [*lines, "else:", *self.block(where, loops)] if self.chance(0.4) else lines

    def _try(self, where: str, loops: bool, value: str) -> list[str]:
        lines = ["try:", *self.block(where, loops)]
        handlers = self.random.choice(
            [["Exception as c"], ["(TypeError, NameError) as x", "ValueError"], ["KeyError", ""], []]
        )
        for handler in handlers:
            lines += [f"except {handler}:".replace(" :", ":"), *self.block(where, loops)]
            if handler and self.chance(0.2):
                lines.append("    raise")
        if handlers and self.chance(0.4):
            lines += ["else:", *self.block(where, loops)]
        if not handlers or self.chance(0.4):
            lines += ["finally:", *self.block(where, loops)]
        return lines

    def _with(self, where: str, loops: bool, value: str) -> list[str]:
        return [f"with tell.manager({value}) as {self.name()}, tell.manager(1):", *self.block(where, loops)]

    def _def(self, where: str, loops: bool, value: str) -> list[str]:
        self.count += 1
        name, generates = f"f{self.count}", self.chance(0.3)
        parameter = self.name()
        declared = self.random.choice([name for name in NAMES if name != parameter])
        way = "global" if where in ("module", "class") or self.chance(0.5) else "nonlocal"
        lines = [
            f"def {name}({parameter}, *{self.random.choice(['r', parameter + '_'])}, q={value}, **o):",
            *([f"    {way} {declared}"] if self.chance(0.4) else []),
            *self.block("generator" if generates else "function", False),
        ]
        if self.chance(0.3):
            lines.insert(0, "@tell")
        lines += ["    yield 0"] if generates else []
        if where == "module":
            self.functions.append((name, generates))
            return lines
        call = f"[*{name}({self.name()})]" if generates else f"{name}({self.name()})"
        return [*lines, f"tell({call})"]

    def _class(self, where: str, loops: bool, value: str) -> list[str]:
        self.count += 1
        name = f"K{self.count}"
        before = self.functions.copy()
        lines = [
            f"class {name}:",
            *([f"    global {self.name()}"] if self.chance(0.2) else []),
            *self.block("class", False),
            "    def m(self):",
            *["    " + line for line in self.block("function", False)],
        ]
        self.functions = before
        return [*lines, f"tell({name}().m(), getattr({name}, 'a', None))"]

    def _match(self, where: str, loops: bool, value: str) -> list[str]:
        names = self.random.sample(["a", "b", "c"], 2)
        patterns = [
            f"[{names[0]}, *{names[1]}]",
            f"{{'k': {names[0]}, **{names[1]}}}",
            f"int({names[0]}) | [{names[0]}]",
            "0 | None",
            f"[1, [{names[0]}, _] as {names[1]}]",
            "str()",
            f"float() as {names[0]}",
        ]
        lines = [f"match {value}:"]
        for pattern in self.random.sample(patterns, 3):
            guard = f" if {self.value(walrus=where != 'class')}" if self.chance(0.3) else ""
            lines += [f"    case {pattern}{guard}:", *["    " + line for line in self.block(where, loops)]]
        if self.chance(0.5):
            lines += [
                f"    case {self.random.choice(['_', names[0]])}:",
                *["    " + line for line in self.block(where, loops)],
            ]
        return lines
