"""What can be asked: queries, which are computed, and sources and marks, which come from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, overload

import msgspec
import xxhash

if TYPE_CHECKING:
    from detlint.db.database import Database

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[Any, ...]
NOTHING: Final = object()

_PLAIN: Final = msgspec.msgpack.Encoder()
_SORTED: Final = msgspec.msgpack.Encoder(order="deterministic")
_known: Final[list[Asked[Any, Any]]] = []
_by_name: Final[dict[str, Asked[Any, Any]]] = {}


class Asked(Generic[P, T]):
    """Something that can be asked: `it(db, *key)`. Types are looked at when they are needed first, so that importing does no work.

    What is kept on disk holds for one fingerprint of detlint's version (see `Storage`); a query is known there by its name.
    """

    def __init__(self, function: Callable[..., T], skipped: int) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.number = len(_known)
        self.sorts = False
        self._skipped = skipped
        self._encoder: msgspec.msgpack.Encoder | None = None
        self._key: msgspec.msgpack.Decoder[Key] | None = None
        self._value: msgspec.msgpack.Decoder[T] | None = None
        _known.append(self)
        _by_name[self.name] = self

    if TYPE_CHECKING:

        def __call__(self, db: Database, *key: P.args, **named: P.kwargs) -> T: ...
    else:

        def __call__(self, db, *key):  # this is the way of nearly all questions: it does nothing that it needn't
            try:
                value, node = db.hot[self.number][key]
            except LookupError:
                pass
            else:
                db.asked[node] = None
                return value
            return db.ask(self, key)

    def __repr__(self) -> str:
        return self.name

    def text(self, key: Key) -> bytes:
        """The question in bytes, by which it is known on disk and in other processes."""
        try:
            return _PLAIN.encode((self.name, *key))
        except UnicodeEncodeError:
            return _unreadable((self.name, *key))

    def encode(self, value: T) -> bytes:
        """A value in bytes, the same in every process; with a name in it that is no text, one that can't be decoded."""
        if self._encoder is None:
            self._encoder = _SORTED if self.sorts else _encoder(self._type("return"), self.name)
        try:
            return self._encoder.encode(value)
        except UnicodeEncodeError:
            return _unreadable(value)

    def decode(self, data: bytes) -> T:
        """The value that was encoded.

        Raises:
            msgspec.DecodeError: it was none.
        """
        if self._value is None:
            self._value = msgspec.msgpack.Decoder(self._type("return"))
        return self._value.decode(data)

    def key_of(self, text: bytes) -> Key:
        """The key of a question in bytes.

        Raises:
            msgspec.DecodeError: it is none of this query.
        """
        if self._key is None:
            count = self.function.__code__.co_argcount
            names = self.function.__code__.co_varnames[self._skipped : count]
            self._key = msgspec.msgpack.Decoder(tuple[(str, *map(self._type, names))])  # type: ignore[misc]
        return self._key.decode(text)[1:]

    def same(self, one: T, other: T) -> bool:
        """Whether two values are the same."""
        return one is other or self.encode(one) == self.encode(other)

    def _type(self, name: str) -> Any:
        """The type of a parameter, or of the value. (Not by `get_type_hints`: the name `Database` need not be there at run time.)"""
        annotation = self.function.__annotations__[name]
        return eval(annotation, self.function.__globals__) if isinstance(annotation, str) else annotation


class Query(Asked[P, T]):
    """A pure function of the database and a key.

    Keys and values are never changed by who gets them: everybody is given the same ones.
    """

    def __init__(self, function: Callable[..., T], stored: bool, initial: Any, sorts: bool) -> None:
        super().__init__(function, 1)
        self.sorts = sorts
        self.stored = stored
        self.initial = initial

    def same(self, one: T, other: T) -> bool:
        return super().same(one, other) if self.stored else one == other

    def release(self, db: Database) -> None:
        """Give back the memory of its values, which are read from disk, or computed, where they are asked for again."""
        if self.stored and self.number < len(db.hot):
            db.hot[self.number].clear()


class Source(Asked[P, T]):
    """A value from outside: a function of the key alone, which is asked once in a revision."""

    def __init__(self, function: Callable[..., T], status: Callable[..., bytes] | None, kept: bool) -> None:
        super().__init__(function, 0)
        self.status = status
        self.kept = kept

    def set(self, db: Database, value: T, *key: P.args, **named: P.kwargs) -> None:
        """Give it a value for a key, from the next revision on (`Database.refresh`), whatever is outside: what an editor has."""
        db.pins[self, key] = value

    def unset(self, db: Database, *key: P.args, **named: P.kwargs) -> None:
        """Take back what `set` has given."""
        db.pins.pop((self, key), None)


class Mark(Asked[P, None]):
    """What stands for something outside that has no value: whoever sees that it has changed says so, with `Database.touch`, and all
    that has asked for it is computed again."""

    def __init__(self, function: Callable[P, None]) -> None:
        super().__init__(function, 0)


def mark(function: Callable[P, None]) -> Mark[P]:
    """Make a mark of a function of a key, of which only the name and the parameters count."""
    return Mark(function)


@overload
def query(function: Callable[Concatenate[Database, P], T], /) -> Query[P, T]: ...
@overload
def query(
    *, stored: bool = True, initial: Any = NOTHING, sorts: bool = False
) -> Callable[[Callable[Concatenate[Database, P], T]], Query[P, T]]: ...
def query(
    function: Callable[..., Any] | None = None, /, *, stored: bool = True, initial: Any = NOTHING, sorts: bool = False
) -> Any:
    """Make a pure function of the database and a key a query.

    Args:
        stored: whether values are kept on disk, and have early cut-off; they must be what msgspec encodes. What isn't stored is for
            what costs less than looking it up: whoever asks it depends on all that it has asked.
        initial: where a query that comes to itself begins. It is computed again and again, with all others on the cycle, until none
            of them changes; to have one answer, whoever asks first, they must be monotone: what they are given grows, so does what
            they give. All queries on a cycle need it.
        sorts: whether dictionaries in the values may come back in another order: else these may hold sets or dictionaries, not both.
    """
    if function is None:
        return lambda function: Query(function, stored, initial, sorts)
    return Query(function, stored, initial, sorts)


@overload
def source(function: Callable[P, T], /) -> Source[P, T]: ...
@overload
def source(
    *, status: Callable[..., bytes] | None = None, kept: bool = True
) -> Callable[[Callable[P, T]], Source[P, T]]: ...
def source(function: Callable[..., Any] | None = None, /, *, status: Any = None, kept: bool = True) -> Any:
    """Make a function of a key a source. That there is no such file is a value, too; what it raises isn't remembered.

    Args:
        status: what is cheaper to ask, with the same key: when it is as it was, so is the value. Empty where it proves nothing.
        kept: whether the value stays in memory; if not, it is read again for everybody who asks.
    """
    if function is None:
        return lambda function: Source(function, status, kept)
    return Source(function, status, kept)


def parsed(text: bytes) -> tuple[Asked[Any, Any], Key] | None:
    """A question in bytes; None where there is none such, or none yet: nothing is imported because a file on disk says so."""
    try:
        asked = _by_name.get(msgspec.msgpack.decode(text)[0])
        return None if asked is None else (asked, asked.key_of(text))
    except (msgspec.DecodeError, LookupError, TypeError):
        return None


def _unreadable(value: object) -> bytes:
    """Bytes for what msgpack can't encode, that it never decodes: a file's name need not be text."""
    return b"\xc1" + repr(value).encode("ascii", "backslashreplace")


def digest(text: bytes) -> int:
    """A number for a question, never 0. Where a value is read, the question itself is compared."""
    return xxhash.xxh3_64_intdigest(text) or 1


def print_of(text: bytes, data: bytes) -> int:
    """The fingerprint of a value. It holds the question, too, so that it tells that a row on disk is what is looked for."""
    made = xxhash.xxh3_64(text)
    made.update(data)
    return made.intdigest()


def _encoder(value: Any, name: str) -> msgspec.msgpack.Encoder:
    """An encoder for a type. Sets have another order in each process, and must be sorted; dictionaries must not be, since what is
    read from disk must be what was computed. msgspec sorts both or none."""
    from msgspec import inspect

    kinds = set(_kinds(inspect.type_info(value), set()))
    sets = not kinds.isdisjoint((inspect.SetType, inspect.FrozenSetType))
    if sets and inspect.DictType in kinds:
        raise TypeError(
            f"{name}: a value may hold sets or dictionaries, not both: the order of one of them would be lost"
        )
    return _SORTED if sets else _PLAIN


def _kinds(info: Any, seen: set[int]) -> Iterator[type]:
    if isinstance(info, tuple):
        for one in info:
            yield from _kinds(one, seen)
    elif isinstance(info, msgspec.Struct) and id(info) not in seen:
        seen.add(id(info))
        yield type(info)
        for name in info.__struct_fields__:
            yield from _kinds(getattr(info, name), seen)
