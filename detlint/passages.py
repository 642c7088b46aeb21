"""Which runs pass each file of a program, and whether others make a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from detlint.program.links import Links
from detlint.program.outcome import Passage, Runs
from detlint.record import Followed, Judged


def runs_of(followed: Mapping[str, Sequence[Followed]], links: Links) -> dict[str, Runs]:
    """The runs that each module is judged by."""
    passages: dict[str, list[Passage]] = {}
    for _, runs in sorted(followed.items()):
        for run in runs:
            for path, sites in run.sites.items():
                passage = Passage(
                    run.outcome, sites, run.seeded.get(path, frozenset()), run.silent.get(path, frozenset())
                )
                passages.setdefault(path, []).append(passage)
    trained = links.reached(path for path, runs in followed.items() if any(run.trains for run in runs))
    stopping = {
        path: runs[0].outcome.stops for path, runs in followed.items() if runs and all(r.outcome.stops for r in runs)
    }
    trying = {path for path, runs in followed.items() if runs and all(r.outcome.only_tries for r in runs)}
    going = links.reached(followed.keys() - stopping.keys() - trying) if stopping else set[str]()
    training = {path for path, runs in followed.items() if any(run.trains and not run.outcome.stops for run in runs)}
    trains = links.reached(training) if stopping else set[str]()
    stopped, broken = dict[str, str](), dict[str, str]()
    for start, where in sorted(stopping.items()):
        for path in links.reached([start]):
            if path not in going:
                stopped.setdefault(path, where)
            if path not in trains:
                broken.setdefault(path, where)
    left = links.reached(path for path, runs in followed.items() if any(run.outcome.leaves for run in runs))
    return {
        path: Runs(passages.get(path, ()), path in trained, stopped.get(path, ""), path in left, broken.get(path, ""))
        for path in passages.keys() | trained | stopped.keys() | left | broken.keys()
    }


def differ(judged: Judged, then: Runs, now: Runs) -> bool:
    """Whether a module may be judged otherwise by other runs."""
    if (then.stop, then.leaves, then.broken) != (now.stop, now.leaves, now.broken):
        return True
    if then.train != now.train and (judged.open or now.leaves):
        return True
    passages = (*then.passages, *now.passages)
    return then.passages != now.passages and (judged.varies or any(passage.sites for passage in passages))
