"""What trains in a project, by its code: not by comments, texts or imports alone, nor by what nothing runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from detlint.checks.unnamed import Unnamed
from detlint.facts.yaml_text import SUFFIXES
from detlint.folders import INIT
from detlint.program.resolve import Module
from detlint.program.texts import IMPORT, MAIN, TOP, Block
from detlint.program.users import Users

OPTIMIZERS: Final = rb"(?<!parallel_)(?i:optim)(?!al|um\b|is[mt]|izer_shard)"
"""Whoever trains names an optimizer, its module or its options; the optimum of something else is none, and how one would be shared between
devices is said by who may have none."""
GRADIENTS: Final = (
    rb"\.requires_grad(?:_\((?!\s*(?:\w+\s*=\s*)?False)|\s*=(?!=)(?!\s*(?:False|[\w.]*requires_grad)))"
    rb"|(?m:^(?![^\n]*\bParameter\()[^\n]*\brequires_grad\s*=\s*True\b)"
)
"""Whoever asks for gradients by hand: not who passes on whether they are asked for, nor a new parameter, which has them anyway."""
BY_TABLE: Final = re.compile(
    rb"(?<!def )(?<!class )\b(?:(?:train|fit|learn|tune|finetune|pretrain)(?:_\w+)?"
    rb"|(?:run|start|do|launch|main)_train\w*|\w*(?i:trainer|runner|learner))\("
)
"""Whoever may train what a table describes, or what it is handed, by its name."""
_IMPORTS: Final = IMPORT.pattern
_REGISTRY: Final = rb"^\w+[ \t]*=[ \t]*\w*Registry\((?:[^()]|\([^()]*\))*\)"
"""A collection, by itself: whoever puts something into it, or takes something out, says its name."""
_IMPORTED: Final = re.compile(rb"\w+")
_FROM: Final = re.compile(rb"^[ \t]*from[ \t]+[\w.]+[ \t]+import\b")


class TrainingCode:
    """Reads the code of projects.

    Args:
        unnamed: knows what nothing runs.
        patterns: what trains, beside optimizers and gradients.
        harmless: what doesn't train, whatever is in it.
        keys: by what a table names definitions of a program, so that command lines of others may train what it describes.
    """

    def __init__(
        self,
        users: Users,
        unnamed: Unnamed,
        patterns: Sequence[bytes],
        harmless: Sequence[bytes],
        keys: Iterable[str],
    ) -> None:
        self._users = users
        self._texts = users.texts
        self._unnamed = unnamed
        self._trains = re.compile(b"|".join([OPTIMIZERS, GRADIENTS, *patterns]))
        names = b"|".join(re.escape(key.encode()) for key in keys)
        self._composes = re.compile(rb"^[ \t]*(?:-[ \t]+)*[\"']?(?:%s)[\"']?[ \t]*:[ \t]" % names, re.M)
        self._harmless = re.compile(b"|".join([_IMPORTS, _REGISTRY, *harmless]), re.M)

    def first(self, home: str, speaking: Sequence[str]) -> str:
        """The first file below a folder whose code trains; "" for none.

        Args:
            speaking: the files there that speak of training, in whatever way.
        """
        for path in speaking:
            self._users.resolver.opened.add(path)
            if not self._is_table(path) and self._trains_in(path):
                return path
        # Tables, and what is taken out of collections by a name, are trained by whoever reads them.
        scripts = (path for path in self._texts.below(home) if path.endswith(".py")) if speaking else ()
        return next((path for path in scripts if self._says(path, BY_TABLE)), "")

    def _is_table(self, path: str) -> bool:
        """Whether a file only describes something, for whoever reads it: it is YAML, or assigns values, and nothing imports it."""
        if path.endswith(SUFFIXES):
            return self._composes.search(self._texts.of(path) or b"") is None
        module = self._module(path)
        return (
            module is not None
            and not (module.classes or module.functions)
            and not self._users.starts(path)
            and not self._users.is_imported(module)
        )

    def _trains_in(self, path: str) -> bool:
        return self._module(path) is None or self._says(path, self._trains)

    def _says(self, path: str, what: re.Pattern[bytes]) -> bool:
        """Whether a part of a file that may run says something."""
        blocks = [*self._texts.blocks_of_code(path)]
        names = _given_names(blocks, what, path.endswith(INIT))
        if names is None:
            return True
        named = re.compile(rb"\b(?:%s)\b" % b"|".join(sorted(names))) if names else what
        module = self._module(path)
        for block in blocks:
            text = self._harmless.sub(b"", block.text)
            said = what.search(text) or named.search(text)
            top = block.name in (TOP, MAIN)
            if said and not (module is not None and not top and self._unnamed.holds(module, block.name)):
                return True
        return False

    def _module(self, path: str) -> Module | None:
        """A Python file; None for others."""
        return self._users.resolver.module(path) if path.endswith(".py") else None


def _given_names(blocks: Sequence[Block], what: re.Pattern[bytes], hands_on: bool) -> set[bytes] | None:
    """The names that imports give what they say of something; None where others may have it by another one.

    Args:
        hands_on: whether the imports are for others.
    """
    names = set[bytes]()
    for statement in (found for block in blocks for found in IMPORT.findall(block.text) if what.search(found)):
        said = _FROM.sub(b"", statement)
        if b"*" in said or (hands_on and b" as " in said):
            return None
        if said != statement:
            names.update(_IMPORTED.findall(said))
        elif b" as " in said:
            names.update(_IMPORTED.findall(said.rpartition(b" as ")[2]))
    return names - {b"as"}
