"""What one file says, lowered: operations over interned numbers.

Every function, class body and module top level is a list of **ops** in the order in which Python evaluates them. An op is a tuple: its
code, then its operands. Its position is its name: an operand of kind *value* is the position of an earlier op whose result it takes. The
others are a *slot* (a row of `FnIR.names`), a *string* or a *constant* (a row of those tables of the file), a *function*, or a plain
number; -1 stands for what isn't there.

Control flow keeps its structure: some ops are **marks** that open a block, divide it, or close it, and nest like brackets.
"""

from __future__ import annotations

from typing import Final

# -- values ---------------------------------------------------------------------------------------------------------------

CONST: Final = 0
"""constant"""
LOAD: Final = 1
"""slot"""
ATTR: Final = 2
"""value, string"""
ITEM: Final = 3
"""value, value"""
CALL: Final = 4
"""value, count of the positional arguments, values..., then string and value for each keyword (string -1: `**`)"""
BINARY: Final = 5
"""string (`+`), value, value"""
UNARY: Final = 6
"""string (`not`), value"""
COMPARE: Final = 7
"""value, string (`is not`), value: one comparison; `a < b < c` is `a < b and b < c` with one value for `b`"""
CHOICE: Final = 8
"""string (`and`, `or`, `if`), value, value: what one of two arms gives; stands behind the `END` of their `IF`, where other `CHOICE`s may
stand as well. `and`: the first value where that is false, else the second; `or`: the other way round; `if`: the first where the arm of
the `IF` was gone through, else the second. Of a pattern's alternatives none may have come to its value; nothing takes it then"""
LIST: Final = 9
"""values..."""
TUPLE: Final = 10
"""values..."""
SET: Final = 11
"""values..."""
DICT: Final = 12
"""value and value for each item (the first -1: `**`)"""
TEXT: Final = 13
"""values...: a formatted string"""
FORMAT: Final = 14
"""value, value (its format, or -1), number (`!r`: ord("r"), or -1)"""
SLICE: Final = 15
"""value, value, value (each may be -1)"""
STAR: Final = 16
"""value: `*value`"""
FUNCTION: Final = 17
"""function, count of the decorators, values...: a `def` or `lambda`. Its defaults are in `Header.parameters`"""
CLASS: Final = 18
"""function (its body), count of the decorators, values..., then as in `CALL`"""
AWAIT: Final = 19
"""value"""
YIELD: Final = 20
"""value"""
YIELD_FROM: Final = 21
"""value"""
PART: Final = 22
"""value, number, number: one of several into which a value is taken apart: which, and of how many; `*rest`: as -1 - which. Of how many
-1: the attribute that a class pattern names by its position"""
COLLECT: Final = 23
"""string (`list`, `set`, `dict`, `generator`), mark: what the comprehension gives that began at that `COMPREHEND`"""
IMPORT: Final = 24
"""string (dotted), level, number (1: its first component): a module"""
MEMBER: Final = 25
"""value (an `IMPORT`), string: `from module import name`"""
AUGMENT: Final = 26
"""string (`+`), value, value: what `a += b` gives"""
MATCHES: Final = 27
"""value, string, ...: whether the subject of a pattern is so; what goes on inside it follows in an `IF` of this. `value`, `singleton`:
value. `sequence`: number, number: a sequence of so many, or (1) of at least so many. `mapping`: values: one that has these keys. `class`:
value, number, strings...: an instance that has so many attributes by position, and these by name. `rest` isn't a test: values: the
mapping without these keys"""
CAUGHT: Final = 28
"""value (the class, or -1): the exception that an `EXCEPT` begins with"""
TEMPLATE: Final = 29
"""values...: a template string. Its `FORMAT`s are what it holds, not text"""
TYPE_PARAMETER: Final = 30
"""string (`TypeVar`, `ParamSpec`, `TypeVarTuple`), value (its bound, or -1), value (its default, or -1)"""

# -- what stores, and what leaves -----------------------------------------------------------------------------------------

STORE: Final = 40
"""slot, value"""
SET_ATTR: Final = 41
"""value, string, value"""
SET_ITEM: Final = 42
"""value, value, value"""
DELETE: Final = 43
"""slot. An `EXCEPT` that stores its exception ends with one of that name, which takes effect however the block is left, and also where the
name is gone already"""
DELETE_ATTR: Final = 44
"""value, string"""
DELETE_ITEM: Final = 45
"""value, value"""
STAR_IMPORT: Final = 46
"""value (an `IMPORT`)"""
RETURN: Final = 47
"""value"""
RAISE: Final = 48
"""value, value (each may be -1)"""
ASSERT: Final = 49
"""value, value (the message, or -1): the first was false. Stands in the other arm of an `IF` of it"""
BREAK: Final = 50
CONTINUE: Final = 51
ANNOTATE: Final = 52
"""slot, value: `name: annotation`"""
GIVE: Final = 53
"""value, value (the value of a dictionary's item, or -1): an element of the comprehension around it"""
ANNOTATE_ATTR: Final = 54
"""value, string, value: `self.name: annotation`"""

# -- marks ----------------------------------------------------------------------------------------------------------------

IF: Final = 60
"""value"""
ELSE: Final = 61
"""the other arm of an `IF`, what comes behind a loop that wasn't left, or behind a `TRY` without exception"""
FOR: Final = 62
"""value, number (1: async): as a value it is the element"""
WHILE: Final = 63
"""its test follows, up to `UNTIL`"""
UNTIL: Final = 64
"""value: what a `WHILE` goes on with"""
TRY: Final = 65
EXCEPT: Final = 66
"""number (1: `except*`): its test and what it binds follow"""
FINALLY: Final = 67
WITH: Final = 68
"""value, number (1: async): as a value it is what was entered"""
COMPREHEND: Final = 69
END: Final = 70
QUOTE: Final = 71
"""what isn't run here, or isn't known to be: annotations, bounds and defaults of type parameters, `type` aliases"""

OPENING: Final = frozenset({IF, FOR, WHILE, TRY, WITH, COMPREHEND, QUOTE})
"""Marks that open a block."""
OF_A_BLOCK: Final = frozenset({ELSE, UNTIL, EXCEPT, FINALLY})
"""Marks that divide one."""
NAMES: Final = {number: name for name, number in tuple(globals().items()) if type(number) is int}
"""The codes' names, for people."""
