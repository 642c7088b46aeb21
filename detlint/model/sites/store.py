"""Files to facts: what the cache has, what the gate lets through, and the rest read, in processes when it is much."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

import msgspec

from detlint import counters
from detlint.cache import Cache, content_key
from detlint.catalog import Catalog
from detlint.files import read as read_file
from detlint.files import read_with_status
from detlint.frames import in_one_piece
from detlint.ir.code import Code
from detlint.ir.cpp_text import is_cpp, may_add
from detlint.ir.launch_texts import is_settings
from detlint.ir.records import FileIR
from detlint.ir.storage import decode as ir_of
from detlint.ir.storage import encode as encode_ir
from detlint.ir.words import Words, of_code, of_text
from detlint.ir.words import decode as words_of
from detlint.model.sites.gate import gate_of
from detlint.model.sites.records import Facts, Head, decode, decode_head, encode
from detlint.notebook import NotANotebook, is_notebook, open_notebook
from detlint.sources.gate import Gate, YamlGate
from detlint.sources.parse import Cell, Problem
from detlint.status import NOTHING, Status

if sys.platform != "win32":
    import resource
else:
    resource = None

_T = TypeVar("_T")
Progress = Callable[[int, int], None]

FEWEST_FOR_PROCESSES: Final = 40
"""Below this many files to parse, starting processes takes longer than it saves."""
CHUNK: Final = 24
STACK: Final = 512 * 1024 * 1024
"""Bytes of stack that recursion to its limit may need."""
RECURSION: Final = 12_000
STACKS: Final = (STACK, STACK // 4, STACK // 16)
"""What is asked for, and then less: the last is four times what a thread has by itself."""
SHARE: Final = 4
"""A stack gets at most one part in so many of a limited address space."""
GATED: Final = b""
OF_IR: Final = b"ir"
OF_WORDS: Final = b"words"
"""What is behind the key of a file in those of its IR, and of its names."""
MOST_HELD: Final = 8 * 1024 * 1024
"""Bytes of facts that were read: with more of them, the cache is handed what there is."""


class Read(NamedTuple):
    """What was read of a file, encoded."""

    facts: bytes
    """`GATED` for a file that can't produce a finding."""
    ir: bytes = b""
    """b"" where there is none."""
    words: bytes = b""

    def rows(self, key: bytes) -> dict[bytes, bytes]:
        """What the cache keeps of a file of that key."""
        return {key: self.facts, key + OF_IR: self.ir, key + OF_WORDS: self.words}


class Look(NamedTuple):
    """How a run looks at files."""

    began: int = 0
    """When it began, in nanoseconds."""
    keeps: bool = False
    """Whether files are kept as they were read first, however much that is: for a program that changes all the time."""


class Changed(BaseException):
    """A file has another content than when its key was taken: what was found out since then is of two programs. (No `Exception`: what
    can go wrong in one file ends there, and the run goes on.)"""


class File(msgspec.Struct):
    """A file of the program. `head` is None for one that the gate keeps out, and before it is known."""

    path: str
    module: str
    package: bool
    key: bytes = b""
    size: int = 0
    status: Status = NOTHING
    """What the file system said when the key was taken."""
    head: Head | None = None
    whole: bool = True
    """Whether the head has what linking asks."""
    text: bytes | None = None
    """What standard input gave for it."""
    plain: bool = False
    """Whether it is a YAML file, a launch text or C++ that can't produce a finding."""

    def read(self) -> bytes:
        """The content to check: that of which the key was taken.

        Raises:
            Changed: the file has another content by now, or none.
        """
        if self.text is not None:
            data = self.text
        else:
            try:
                data = read_file(self.path)
            except OSError:
                raise Changed(self.path) from None
            if content_key(data, self.module, self.package) != self.key:
                raise Changed(self.path)
        counters.now.bytes += len(data)
        return data

    def code(self) -> tuple[bytes, tuple[Cell, ...], str]:
        """The Python or YAML to check; of a notebook, the joined code of its cells, these, and its accelerator.

        Raises:
            Changed: as `read` does.
            NotANotebook: its name says that it is one.
        """
        if not is_notebook(self.path):
            return self.read(), (), ""
        notebook = open_notebook(self.read())
        return notebook.code, notebook.cells, notebook.accelerator

    def hash(self, look: Look, gate: Callable[[], YamlGate] | None = None) -> None:
        """Read the file for its size, status and key; the bytes are dropped again, so memory doesn't grow with the sources.

        Args:
            gate: gives that for YAML files, most of which are none of ours: one is looked at now, while it is at hand.

        Raises:
            OSError: the file can't be read.
        """
        data = self.text
        if data is None:
            data, found = read_with_status(self.path)
            counters.now.bytes += len(data)
            self.status = Status.of(found, look.began) if found is not None else NOTHING
            if look.keeps:
                self.text = data
        self.size = len(data)
        counters.now.files += 1
        counters.now.content += self.size
        self.key = content_key(data, self.module, self.package)
        self.plain = (is_cpp(self.path) and not may_add(data)) or (
            gate is not None and is_settings(self.path) and not gate().lets(self.path, data)
        )


class Store(msgspec.Struct):
    """The facts of a program's files, by absolute path; others are read when names lead into them."""

    catalog: Catalog
    cache: Cache
    max_size: int
    """In bytes; larger files, and notebooks with more code, are not parsed."""
    look: Look
    files: dict[str, File] = {}
    fresh: dict[bytes, bytes] = {}
    """Rows that the cache doesn't have yet."""
    others: dict[str, bytes] = {}
    """Keys of the files that were read besides `files`."""
    _ahead: dict[bytes, bytes] = {}
    """Rows of the cache that will probably be asked for soon."""

    def fill(self, files: Sequence[File], jobs: int, progress: Progress | None) -> None:
        """The heads of some files, whose facts are read where the cache hasn't got them.

        Args:
            jobs: the number of processes.
        """
        todo = []
        for start in range(0, len(files), CHUNK):
            part = [file for file in files[start : start + CHUNK] if not file.plain]
            known = self.cache.get(file.key for file in part)
            for file in part:
                head = decode_head(known[file.key]) if file.key in known else None
                if head is not None and head.lines:
                    file.head, file.whole = head, True
                else:  # of a file with a problem nothing is told where the gate keeps it out, which depends on the program
                    todo.append(file)
        if not todo:
            return
        done, total = len(files) - len(todo), len(files)
        # Large files first, so that no process is left with one at the end.
        todo.sort(key=lambda file: (-file.size, file.path))
        own = self._own()
        held: float = 0
        for file, read in _read_all(todo, _Work(self.catalog, own, self.max_size), jobs):
            file.head, file.whole = None, True
            if read.facts != GATED:
                self.fresh.update(read.rows(file.key))
                file.head = decode_head(read.facts)
                held += sum(map(len, read))
            if held > MOST_HELD:
                held = 0 if self._spill() else float("-inf")
            done += 1
            if progress is not None:
                progress(done, total)

    def _own(self) -> frozenset[str]:
        """What an import of the program's own files may begin with: their modules and packages, and the folders around them,
        which need not say that they are packages."""
        folders = {os.path.dirname(path) for path in self.files}
        above = len(os.path.commonpath(folders)) if folders else 0
        around = {part for folder in folders for part in folder[above:].split(os.sep)}
        return frozenset(around.union(file.module.partition(".")[0] for file in self.files.values()))

    def facts(self, path: str, name: tuple[str, bool]) -> Facts | None:
        """The facts of a file, read now if it was gated or isn't among the program's. None where it can't be read.

        `name` is its dotted name, and whether it is a package.
        """
        file = self._file(path, name)
        facts = self.known(file.key) if file is not None else None
        return self._read(file)[0] if file is not None and facts is None else facts

    def code(self, path: str, name: tuple[str, bool]) -> Code | None:
        """The IR of a file, lowered now if it was gated or isn't among the program's. None where it can't be read or parsed, and of a file
        that is no Python."""
        file = self._file(path, name) if not (is_settings(path) or is_cpp(path)) else None
        if file is None:
            return None
        encoded = self._row(file.key + OF_IR)
        if encoded is None:
            encoded = self._read(file)[1].ir
        return Code(ir_of(encoded)) if encoded else None

    def words(self, path: str, name: tuple[str, bool]) -> Words | None:
        """The names of a file, of one that can't be parsed those that its text may have; None where it can't be read."""
        file = self._file(path, name)
        if file is None:
            return None
        encoded = self._row(file.key + OF_WORDS)
        if not encoded:
            is_python = not (is_settings(path) or is_cpp(path))
            encoded = (self._read(file)[1].words if is_python else b"") or of_text(file.read()).encode()
            self.fresh[file.key + OF_WORDS] = encoded
        return words_of(encoded)

    def known_ir(self, key: bytes) -> FileIR | None:
        """The IR that was made before, by the key of its file."""
        encoded = self._row(key + OF_IR)
        return ir_of(encoded) if encoded else None

    def known_words(self, key: bytes) -> Words | None:
        """Names that were read before, by the key of their file."""
        encoded = self._row(key + OF_WORDS)
        return words_of(encoded) if encoded else None

    def kept(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """What is kept under a key; else what is made now, which is kept from then on."""
        found = self._row(key)
        if found is None:
            found = self.fresh[key] = make()
        return found

    def _row(self, key: bytes) -> bytes | None:
        found = self.fresh.get(key)
        return found if found is not None else self.cache.get([key]).get(key)

    def _file(self, path: str, name: tuple[str, bool]) -> File | None:
        """A file, one of the program's or another; None where it can't be read."""
        file = self.files.get(path)
        if file is None:
            file = File(path, *name)
            try:
                file.hash(self.look._replace(keeps=True))
            except OSError:
                return None
            note_other(self.others, path, file.key)
        return file

    def _read(self, file: File) -> tuple[Facts, Read]:
        """The facts of a file, and all that is read of it, now."""
        read = with_deep_stack(lambda: [_read_one(file, self.catalog, self.max_size)])[0]
        facts = decode(read.facts)
        if facts.problem is None:  # else a later run would tell of a file that the gate keeps out
            self.fresh.update(read.rows(file.key))
        return facts, read

    def fetch(self, keys: Iterable[bytes]) -> None:
        """Get some rows from the cache that will probably be asked for one by one, all at once."""
        self._ahead = self.cache.get(key for key in keys if key not in self.fresh)

    def keep(self) -> None:
        """Hand the cache the rows that it doesn't have yet."""
        if self.fresh and self.cache.put(self.fresh):
            self.fresh = {}

    def _spill(self) -> bool:
        """Hand the cache what was read of files, while other processes read on; not of texts that only an editor has.

        Returns: whether it could take it; one that is locked makes everybody wait.
        """
        texts = {file.key for file in self.files.values() if file.text is not None}
        rows = {
            key: row for key, row in self.fresh.items() if key.removesuffix(OF_IR).removesuffix(OF_WORDS) not in texts
        }
        taken = self.cache.put(rows)
        if taken:
            self.fresh = {key: row for key, row in self.fresh.items() if key not in rows}
        return taken

    def known(self, key: bytes) -> Facts | None:
        """Facts that were read before, by key."""
        encoded = self.fresh.get(key) or self._ahead.pop(key, None) or self.cache.get([key]).get(key)
        return decode(encoded) if encoded is not None else None


def note_other(others: dict[str, bytes], path: str, key: bytes) -> None:
    """Note the key of a file that doesn't belong to the program; of one that had several in the same run, none that it could have."""
    others[path] = key if others.get(path, key) == key else b"several"


class _Work(NamedTuple):
    """What reading files needs to know, in every process."""

    catalog: Catalog
    own: frozenset[str]
    """The top-level names of the program's modules."""
    max_size: int

    def read(self, files: Iterable[File]) -> list[Read]:
        """What is read of some files."""
        gate = gate_of(self.catalog, self.own)
        return [_read_one(file, self.catalog, self.max_size, gate) for file in files]


def _read_all(files: list[File], work: _Work, jobs: int) -> Iterator[tuple[File, Read]]:
    if jobs > 1 and len(files) >= FEWEST_FOR_PROCESSES:
        from detlint import pool  # most runs read a few files at most, and can do without

        jobs = jobs if pool.safe() else 1
    if jobs == 1 or len(files) < FEWEST_FOR_PROCESSES:
        for start in range(0, len(files), CHUNK):
            part = files[start : start + CHUNK]
            yield from zip(part, with_deep_stack(partial(work.read, part)), strict=True)
        return
    count = -(-len(files) // CHUNK)
    chunks: Sequence[list[File]] = [files[i::count] for i in range(count)]
    with pool.processes(jobs, None, _start_worker, work) as workers:
        for chunk, (facts, done) in zip(chunks, workers.map(_do, chunks), strict=True):
            counters.now.add(done)
            yield from zip(chunk, facts, strict=True)


_worker: _Work | None = None


def _start_worker(work: _Work) -> None:
    global _worker
    _worker = work
    gc.disable()


def _do(chunk: list[File]) -> tuple[list[Read], counters.Counters]:
    work = _worker
    assert work is not None
    with counters.counted() as done:
        return with_deep_stack(lambda: work.read(chunk)), done


def _read_one(file: File, catalog: Catalog, max_size: int, gate: Gate | None = None) -> Read:
    """What is read of a file; whatever is in it, or becomes of it, the run goes on."""
    from detlint.model.sites.reader import read

    try:
        code, cells, accelerator = file.code()
        if len(code) > max_size:
            problem = Problem(f"is skipped: {len(code):,} bytes are more than max-file-size ({max_size:,})")
        elif is_settings(file.path):
            from detlint.model.launches.launch_facts import read as read_settings  # imports PyYAML, or tree-sitter

            counters.now.read += 1
            return Read(encode(read_settings(file.path, code, file.module, catalog)), words=of_text(code).encode())
        elif is_cpp(file.path):
            from detlint.model.sites import cpp_file

            return Read(encode(cpp_file.read(code, file.module)), words=of_text(code).encode())
        elif gate is not None and not gate.passes(code):
            return Read(GATED)
        else:
            counters.now.read += 1
            facts, ir = read(code, file.module, file.package, catalog, cells, accelerator)
            return Read(encode(facts)) if ir is None else Read(encode(facts), encode_ir(ir), of_code(Code(ir)).encode())
    except NotANotebook as error:
        problem = error.problem
    except (RecursionError, MemoryError):
        problem = Problem("can't be analysed: it is nested too deeply")
    except Exception as error:  # the boundary of one file: the rest of the run goes on
        problem = Problem(f"can't be analysed, which is a fault of detlint's (please report it): {error!r}")
    return Read(encode(Facts(file.module, problem=problem)))


def _stacks() -> Iterator[int]:
    """The sizes of a stack to ask for. Where the address space of the process is limited, most of it is left for other things."""
    if resource is None:
        yield from STACKS
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    yield from (size for size in STACKS if limit == resource.RLIM_INFINITY or size <= limit // SHARE)


class _Deep:
    """While it is entered, threads start with a large stack, and recursion may go as deep as that allows. Both hold for the
    whole process: they are put back when the last thread that asked for them has left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = (0, 0)

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = sys.getrecursionlimit(), threading.stack_size(STACK)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                limit, size = self._before
                threading.stack_size(size)
                sys.setrecursionlimit(limit)

    def start(self, target: Callable[[], None]) -> threading.Thread | None:
        """A thread that does something, with the largest stack that there is room for; None where there is none for any."""
        with self._lock:
            for size in _stacks():
                threading.stack_size(size)
                deep = max(self._before[0], RECURSION * size // STACK)
                sys.setrecursionlimit(deep if self._inside == 1 else min(deep, sys.getrecursionlimit()))
                # An interrupt leaves it behind, and then it must not keep the process from ending.
                thread = threading.Thread(target=target, daemon=True)
                try:
                    thread.start()
                except (RuntimeError, MemoryError):  # the address space of the process is limited
                    continue
                return thread
        return None


_deep: Final = _Deep()


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """Run where deeply nested code can be walked: in a thread with a large stack."""
    result: list[_T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            with warnings.catch_warnings():
                # Parsing warns of the checked code's own faults (`"\d"`), which are not ours to report.
                warnings.simplefilter("ignore")
                result.append(in_one_piece(work))
        except BaseException as error:  # handed to the thread that waits
            failure.append(error)

    with _deep:
        thread = _deep.start(target)
        if thread is not None:
            thread.join()
    if thread is None:
        target()
    if failure:
        raise failure[0]
    return result[0]


def processes(jobs: int) -> int:
    """How many processes to use; 0 means one for each CPU that this process may run on."""
    if jobs:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
