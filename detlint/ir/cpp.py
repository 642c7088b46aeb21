"""C++ and CUDA to the IR of a file, by tree-sitter's grammar, which goes on behind what it doesn't understand.

Functions, classes, loops and tests become the same ops as Python's. What C++ has besides:

- a type is a value: a name, `T*` and `T[]` are `UNARY "*"` of it, `A<T>` is an `ITEM` of a name and a tuple. Variables have theirs by
  `ANNOTATE`, parameters as annotations, casts are calls of one;
- a template's parameters are type parameters, `f<float>(x)` calls an `ITEM`;
- `kernel<<<grid, block>>>(x)` calls a `BINARY "<<<"` of the kernel and a tuple;
- `__global__` and its like are decorators;
- a macro that heads a block, `CUDA_KERNEL_LOOP(i, n) {`, is a loop over what its call gives; `#if` keeps all that it has;
- a statement that one thread does at a time, `#pragma omp atomic`, is in a block `WITH` that name; `reduction(+:x)` calls a name with `x`;
- inline assembler calls `asm` with its text and operands;
- `#include "a.h"` is an `IMPORT` of that path, `#define N 4` and `#define T float` a variable, `#define F(x) ...` a function with the
  decorator `#define`; a macro that makes kernels is what it makes (`cpp_macros`).

Nothing is preprocessed: a macro is a name where it is used, and may be any of those that are defined for it. One that is a
statement without a semicolon gets one (`cpp_repairs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import cpp_macros, cpp_pragmas
from detlint.ir import ops as op
from detlint.ir.builder import Builder, File
from detlint.ir.cpp_expressions import Expressions, place_of, text_of
from detlint.ir.cpp_repairs import repaired
from detlint.ir.depth import at_any_depth
from detlint.ir.lower import assembled
from detlint.ir.records import CLASS, EITHER, FUNCTION, MODULE, FileIR

if TYPE_CHECKING:  # a run that meets no such file doesn't load it
    from tree_sitter import Node, Parser

MACRO: Final = "#define"
"""The decorator of what a macro stands for."""
_VALUES: Final = frozenset(
    {"number_literal", "string_literal", "raw_string_literal", "identifier", "qualified_identifier"}
)
_TYPES: Final = frozenset({"primitive_type", "sized_type_specifier", "template_type", "qualified_identifier"})
WORDS: Final = (
    b"tomicAdd",
    b"tomicInc",
    b"tomicDec",
    b"tomicSub",
    b"tomicCAS",
    b"tomicExch",
    b"tomic_xchg",
    b"tom_xchg",
    b"tomic_cmpxchg",
    b"tom_cmpxchg",
    b"fetch_add",
    b"compare_exchange",
    b"atomic_fadd",
    b"SetAtomic",
    b"atomic_add",
    b"atomic_ref",
    b"red.",
    b"atom.",
    b"red_add",
    b"parallel_reduce",
    b"sycl::reduction",
    b"execution::par",
    *cpp_pragmas.WORDS,
)
"""One of these is in what adds atomically."""
MOST: Final = 1 << 21
"""Bytes: what is longer is generated."""
_ATTRIBUTES: Final = (b"__aicore__", b"__forceinline__", b"C10_HOST_DEVICE", b"__mix__")
"""Macros before a function's name that say nothing of what it does, and that the grammar doesn't know."""
_THROUGH: Final = frozenset({
    "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification", "declaration_list",
    "namespace_definition", "ERROR", "compound_statement", "try_statement", "catch_clause", "else_clause",
    "field_declaration_list", "access_specifier", "case_statement", "friend_declaration",
})  # fmt: skip
"""What only holds statements."""
_QUALIFIERS: Final = frozenset({"__global__", "__device__", "__host__"})


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def lower(text: bytes) -> FileIR | None:
    """What a source in C++ says; None for one that nobody writes by hand. Never raises on account of the input."""
    if len(text) > MOST or b"\0" in text:
        return None
    text = text.replace(b"\r\n", b" \n")
    for word in _ATTRIBUTES:
        text = text.replace(word, b" " * len(word))
    tree = repaired(text, _parser().parse, lambda handed: b"<<<" in handed or may_add(handed))
    return at_any_depth(partial(_lowered, tree.root_node))


def comments(text: bytes) -> Iterator[tuple[str, int, int]]:
    """The comments of a source: their text, and the line and column (in bytes) at which they begin."""
    waiting = [_parser().parse(text).root_node] if len(text) <= MOST else []
    while waiting:
        node = waiting.pop()
        if node.type == "comment":
            yield text_of(node), node.start_point[0] + 1, node.start_point[1]
        waiting += node.children[::-1]


def _parsed(text: str) -> Node:
    """The tree of a text that is a part of a source."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def may_add(text: bytes) -> bool:
    """Whether a text has a word of what adds atomically."""
    return any(word in text for word in WORDS)


class _Waiting(NamedTuple):
    """A function whose body is lowered after what stands around it."""

    node: Node
    templates: Sequence[str]
    """The parameters of the template that it is."""


def _lowered(root: Node) -> FileIR:
    file = File()
    lowering = _Lowering(file, root)
    lowering.waiting[Builder(file, MODULE, "", 1, None).number] = _Waiting(root, ())
    return assembled(file, lowering.lower)


class _Lowering(Expressions):
    """The state of lowering one source: statements, declarations and definitions."""

    def __init__(self, file: File, root: Node) -> None:
        super().__init__(file)
        self.root = root
        self.waiting: dict[int, _Waiting] = {}
        self.templates: Sequence[str] = ()
        """Those of the template that is being read."""
        self.adding = cpp_pragmas.declared(root)
        self.loops: list[bool] = []
        """Of what `break` may leave: whether that is a loop."""

    def lower(self, f: Builder) -> None:
        """Lower the body of a function, or class, or all of the file."""
        self.f, self.loops = f, []
        waiting = self.waiting.pop(f.number)
        body = waiting.node.child_by_field_name("body") if f.kind != MODULE else waiting.node
        if body is not None:
            self.block(body)

    def later(self, f: Builder, node: Node) -> None:
        """Have a function be lowered once what stands around it is."""
        self.waiting[f.number] = _Waiting(node, self.templates)

    # -- statements -------------------------------------------------------------------------------------------------

    def block(self, node: Node) -> None:
        """All statements in something; a call without a semicolon heads the block behind it: `LOOP(i, x.size()) {`."""
        head: Node | None = None
        for child in node.named_children:
            if head is not None and child.type == "compound_statement":
                name, given = head.child_by_field_name("function"), head.child_by_field_name("arguments")
                handed = given.named_children if given is not None else []
                self.headed(child, text_of(name) if name is not None else "", handed)
            else:
                self.statement(child)
            ends = child.type != "expression_statement" or not child.children[-1].is_missing
            head = child.children[0] if not ends and child.children[0].type == "call_expression" else None

    def statement(self, node: Node) -> None:
        """One statement."""
        kind = node.type
        if kind in _THROUGH:
            self.block(node)
        elif kind in _STATEMENTS:
            _STATEMENTS[kind](self, node)
        elif kind not in ("comment", "using_declaration", "preproc_directive"):
            self.value(node)

    def labelled(self, node: Node) -> None:
        """`again: x += 1;`, or what a pragma has one thread do at a time."""
        label = node.child_by_field_name("label")
        held = label is not None and text_of(label) == cpp_pragmas.HELD
        if held:
            self.f.put((op.WITH, self.f.put(self.f.load(cpp_pragmas.HELD), place_of(node)), 0), place_of(node))
        for child in node.named_children:
            if child != label:
                self.statement(child)
        if held:
            self.f.put((op.END,), place_of(node))

    def pragma(self, node: Node) -> None:
        """`#pragma omp parallel for reduction(+:x)`"""
        place = place_of(node)
        names = [self.f.put(self.f.load(name), place) for name in cpp_pragmas.summed(node, self.adding)]
        if names:
            callee = self.f.put(self.f.load(cpp_pragmas.SUMMED), place)
            self.f.put((op.CALL, callee, len(names), *names), place)

    def include(self, node: Node) -> None:
        path = node.child_by_field_name("path")
        if path is not None and path.type in ("string_literal", "system_lib_string"):
            self.f.put((op.IMPORT, self.file.string(text_of(path).strip('"<>')), 0, 0), place_of(node))

    def constant(self, node: Node) -> None:
        """`#define N 4`, `#define REAL float`, `#define ADD atomicAdd`"""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        text = cpp_macros.said(value).partition("/*")[0].strip()
        for begin, kinds in (("auto x = ", _VALUES), ("using x = ", _TYPES)) if text and name is not None else ():
            parsed = _parsed(f"{begin}{text};")
            found = (
                parsed.descendant_for_byte_range(len(begin), len(begin) + len(text)) if not parsed.has_error else None
            )
            found = (
                found.child_by_field_name("type") if found is not None and found.type == "type_descriptor" else found
            )
            if found is not None and found.type in kinds:
                self.f.store(text_of(name), self.value(found), place_of(node))  # type: ignore[arg-type]
                return

    def kernel(self, name: bytes, parameters: Sequence[Node], value: Node) -> None:
        """`#define F(x) __global__ void x() {}`: what it makes, with what its parameters are where it is used."""
        for handed in cpp_macros.uses(self.root, name):
            for parameter, word in zip(parameters, handed, strict=False):
                if (said := word.decode("utf-8", "replace")).isidentifier():
                    made = self.f.put(self.f.load(said), place_of(parameter))
                    self.f.store(text_of(parameter), made, place_of(parameter))  # type: ignore[arg-type]
        self.block(_parser().parse(cpp_macros.written_out(value)).root_node)

    def macro(self, node: Node) -> None:
        """`#define F(x) ...`"""
        name, given, value = map(node.child_by_field_name, ("name", "parameters", "value"))
        if name is not None and given is not None and value is not None and cpp_macros.KERNEL in (value.text or b""):
            self.kernel(name.text or b"", given.named_children, value)
            return
        text = cpp_macros.said(value)
        parsed = _parsed(f"void f() {{ {text}; }}") if "(" in text or "+=" in text else None
        body = parsed.named_children[0] if parsed is not None and parsed.named_children else None
        if name is None or given is None or body is None:
            return
        made = Builder(self.file, FUNCTION, text_of(name), node.start_point[0] + 1, self.f)
        for parameter in given.named_children:
            made.parameter(_Parameter(text_of(parameter), *place_of(parameter)), EITHER, -1, -1)  # type: ignore[arg-type]
        self.later(made, body)
        value_of = self.f.put(
            (op.FUNCTION, made.number, 1, self.f.put(self.f.load(MACRO), place_of(node))), place_of(node)
        )
        self.f.store(made.name, value_of, place_of(node))  # type: ignore[arg-type]

    def conditional(self, node: Node) -> None:
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        self.f.put((op.IF, self.value_or(condition, True)), place_of(node))
        if then is not None:
            self.statement(then)
        if (other := node.child_by_field_name("alternative")) is not None:
            self.f.put((op.ELSE,), place_of(other))
            self.statement(other)
        self.f.put((op.END,), place_of(node))

    def loop(self, node: Node) -> None:
        """`for`, `while` and `do`: what is done first, the test, the body, what is done behind each round."""
        place, begin = place_of(node), node.child_by_field_name("initializer")
        if begin is not None:
            self.statement(begin)
        self.f.put((op.WHILE,), place)
        self.f.put((op.UNTIL, self.value_or(node.child_by_field_name("condition"), True)), place)
        self.body(node)
        if (update := node.child_by_field_name("update")) is not None:
            self.value(update)
        self.f.put((op.END,), place)

    def at_least_once(self, node: Node) -> None:
        """`do { } while (test)`: as a macro's block, `while (0)`, it is no loop. Whether another one goes on isn't known."""
        body, place, test = node.child_by_field_name("body"), place_of(node), node.child_by_field_name("condition")
        if body is not None and test is not None and text_of(test).strip("() ") in ("0", "false"):
            self.loops.append(False)
            self.statement(body)
            self.loops.pop()
            return
        self.f.put((op.WHILE,), place)
        self.f.put((op.UNTIL, self.f.put(self.f.load(".again"), place)), place)
        self.body(node)
        self.value_or(test, None)
        self.f.put((op.END,), place)

    def body(self, node: Node) -> None:
        """That of a loop."""
        body = node.child_by_field_name("body")
        self.loops.append(True)
        if body is not None:
            self.statement(body)
        self.loops.pop()

    def each(self, node: Node) -> None:
        """`for (auto& x : values)`"""
        right, name = node.child_by_field_name("right"), node.child_by_field_name("declarator")
        element = self.f.put((op.FOR, self.value_or(right, None), 0), place_of(node))
        declared = self.declared(name) if name is not None else None
        if declared is not None:
            self.f.store(declared.name, element, place_of(node))  # type: ignore[arg-type]
        self.body(node)
        self.f.put((op.END,), place_of(node))

    def switch(self, node: Node) -> None:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        asked = self.value_or(condition, None)
        self.loops.append(False)
        for case in body.named_children if body is not None else ():
            self.f.put((op.IF, asked), place_of(case))
            self.statement(case)
            self.f.put((op.END,), place_of(case))
        self.loops.pop()

    def leaves(self, node: Node) -> None:
        """`break` and `continue`, where they are about a loop."""
        if node.type == "continue_statement" and True in self.loops:
            self.f.put((op.CONTINUE,), place_of(node))
        elif node.type == "break_statement" and self.loops and self.loops[-1]:
            self.f.put((op.BREAK,), place_of(node))

    def returns(self, node: Node) -> None:
        value = self.value(node.named_children[0]) if node.named_children else -1
        if self.f.kind not in (MODULE, CLASS):
            self.f.put((op.RETURN, value), place_of(node))

    # -- declarations -----------------------------------------------------------------------------------------------

    def declaration(self, node: Node) -> None:
        """Variables, with what they begin as, or fields."""
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in ("class_specifier", "struct_specifier"):
            self.statement(kind)
        default = node.child_by_field_name("default_value")
        for declarator in node.children_by_field_name("declarator"):
            declared = self.declared(declarator)
            if declared is None:
                continue
            if declared.is_function and not self.f.number:
                continue  # a prototype
            value = self.value(declared.value) if declared.value is not None else -1
            value = self.value(default) if value < 0 and default is not None else value
            if declared.is_function and declared.parameters and b"atomic_ref" in ((kind and kind.text) or b""):
                value = self.value_of_parameter(declared.parameters[0])  # `atomic_ref<T> ref(x);` looks like a function
            place = place_of(declarator)
            self.f.put((op.QUOTE,), place)
            annotation = self.typed(kind, declared)
            self.f.put((op.END,), place)
            if value >= 0:
                self.f.store(declared.name, value, place)  # type: ignore[arg-type]
            if annotation >= 0:
                self.f.put((op.ANNOTATE, self.f.bind(declared.name), annotation), place)

    def alias(self, node: Node) -> None:
        """`using T = float;`"""
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is not None and kind is not None:
            self.f.store(text_of(name), self.value(kind), place_of(node))  # type: ignore[arg-type]

    def typedef(self, node: Node) -> None:
        kind = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            declared = self.declared(declarator)
            if declared is not None and kind is not None:
                self.f.store(declared.name, self.typed(kind, declared), place_of(node))  # type: ignore[arg-type]

    # -- definitions ------------------------------------------------------------------------------------------------

    def templated(self, node: Node) -> None:
        """What follows `template <typename T>`, with `T` as a type parameter."""
        given = node.child_by_field_name("parameters")
        names: list[tuple[str, Node]] = []
        for parameter in given.named_children if given is not None else ():
            own = next((child for child in parameter.named_children[::-1] if child.type.endswith("identifier")), None)
            if own is not None:
                names.append((text_of(own), parameter))
        before = self.f.shadow(name for name, _ in names)
        for name, parameter in names:
            kind = "TypeVar" if parameter.type.endswith("type_parameter_declaration") else "Value"
            made = self.f.put((op.TYPE_PARAMETER, self.file.string(kind), -1, -1), place_of(parameter))
            self.f.store(name, made, place_of(parameter))  # type: ignore[arg-type]
        self.templates = [name for name, _ in names]
        for child in node.named_children:
            if child != given:
                self.statement(child)
        self.templates = ()
        self.f.restore(before)

    def define(self, node: Node) -> None:
        """A function; one in another, or without a type where no constructor is defined, is a macro that heads a block."""
        declarator = node.child_by_field_name("declarator")
        declared = self.declared(declarator) if declarator is not None else None
        if declared is None or not declared.is_function:
            self.block(node)
        elif self.f.kind not in (MODULE, CLASS) or (self.f.kind == MODULE and node.child_by_field_name("type") is None):
            self.headed(node.child_by_field_name("body"), declared.name, declared.parameters)
        else:
            decorators = [child for child in node.children if child.type in _QUALIFIERS]
            values = [self.named(child) for child in decorators]
            made = Builder(self.file, FUNCTION, declared.name, node.start_point[0] + 1, self.f)
            self.parameters(made, declared.parameters)
            self.f.put((op.QUOTE,), place_of(node))
            made.returns = self.typed(node.child_by_field_name("type"), declared)
            self.f.put((op.END,), place_of(node))
            self.later(made, node)
            function = self.f.put((op.FUNCTION, made.number, len(values), *values), place_of(node))
            self.f.store(declared.name, function, place_of(node))  # type: ignore[arg-type]

    def headed(self, body: Node | None, name: str, given: Sequence[Node]) -> None:
        """A block that a macro heads: a loop over what it gives, whose variable is the first name that it is handed."""
        if body is None:
            return
        place = place_of(body)
        callee = self.f.put(self.f.load(name), place)
        handed = [self.value_of_parameter(parameter) for parameter in given]
        call = self.f.put((op.CALL, callee, len(handed), *handed), place)
        element = self.f.put((op.FOR, call, 0), place)
        if given:
            self.f.store(text_of(given[0]).strip(), element, place)  # type: ignore[arg-type]
        self.loops.append(True)
        self.statement(body)
        self.loops.pop()
        self.f.put((op.END,), place)

    def value_of_parameter(self, node: Node) -> int:
        """What a macro is handed, which may look like a parameter."""
        looks = node.type.endswith("declaration") and len(node.named_children) == 1
        return self.value(node.named_children[0]) if looks else self.value(node)

    def parameters(self, made: Builder, given: Sequence[Node]) -> None:
        """The parameters of a function, with their types."""
        self.f.put((op.QUOTE,), place_of(given[0])) if given else None
        for number, node in enumerate(given):
            declarator = node.child_by_field_name("declarator")
            declared = self.declared(declarator) if declarator is not None else None
            annotation = self.typed(node.child_by_field_name("type"), declared)
            name = declared.name if declared is not None else f".{number}"
            made.parameter(_Parameter(name, *place_of(node)), EITHER, -1, annotation)  # type: ignore[arg-type]
        self.f.put((op.END,), place_of(given[0])) if given else None

    def define_class(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        made = Builder(self.file, CLASS, text_of(name).partition("<")[0], node.start_point[0] + 1, self.f)
        self.file.bases[made.number] = []
        self.later(made, node)
        value = self.f.put((op.CLASS, made.number, 0, 0), place_of(node))
        self.f.store(made.name, value, place_of(node))  # type: ignore[arg-type]


class _Parameter(NamedTuple):
    """A parameter, as `Builder.parameter` takes one."""

    arg: str
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


_STATEMENTS: Final = {
    "if_statement": _Lowering.conditional,
    "for_statement": _Lowering.loop,
    "while_statement": _Lowering.loop,
    "do_statement": _Lowering.at_least_once,
    "for_range_loop": _Lowering.each,
    "switch_statement": _Lowering.switch,
    "break_statement": _Lowering.leaves,
    "continue_statement": _Lowering.leaves,
    "return_statement": _Lowering.returns,
    "declaration": _Lowering.declaration,
    "field_declaration": _Lowering.declaration,
    "alias_declaration": _Lowering.alias,
    "type_definition": _Lowering.typedef,
    "template_declaration": _Lowering.templated,
    "function_definition": _Lowering.define,
    "labeled_statement": _Lowering.labelled,
    "preproc_call": _Lowering.pragma,
    "preproc_include": _Lowering.include,
    "preproc_def": _Lowering.constant,
    "preproc_function_def": _Lowering.macro,
    "class_specifier": _Lowering.define_class,
    "struct_specifier": _Lowering.define_class,
}
