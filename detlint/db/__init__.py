"""The incremental database: what was found out once is found out again only where something that it rests on has changed.

A query is a pure function of the database and a key. While it runs, each question that it asks is recorded, in order; nobody keeps
lists of dependencies by hand. The values that come from outside are sources. When some of them have changed, answers that may rest
on them are verified: their dependencies are gone through in the order in which they were asked for, and one is computed again only
if a dependency of it has another value than it had. An answer that comes out as before leaves all that rest on it as they are.

    @source
    def settings() -> Settings: ...

    @query
    def exports(db: Database, path: str) -> Exports:
        return Exports.of(file_ir(db, path))

    db = Database(Storage(folder, fingerprint))
    exports(db, "a.py")
    db.save()

The room knows nothing of Python code, and asks no other room.
"""

from detlint.db.database import Database
from detlint.db.errors import Changed, CycleError, UnsettledError
from detlint.db.memo import Memo
from detlint.db.query import Mark, Query, Source, mark, query, source
from detlint.db.storage import Storage

__all__ = [
    "Changed", "CycleError", "Database", "Mark", "Memo", "Query", "Source", "Storage", "UnsettledError", "mark", "query", "source",
]  # fmt: skip
