"""What Python imports before a program that `detlint run`, `trace` or `verify` starts, and before each Python process that this one starts.

`detlint run` puts this folder in front of PYTHONPATH. The module `site` imports `sitecustomize` at the end of start-up, when
installed packages can be imported and nothing of the program has run yet: https://docs.python.org/3/library/site.html.
"""

import os
import sys
from importlib import import_module


def _attach(module: str) -> None:
    try:
        attached = import_module(module)
    except ImportError as error:
        print(f"detlint: {sys.executable} can't import detlint ({error}): it runs as it is", file=sys.stderr)
        return
    try:
        attached.attach()
    except Exception as error:
        # What fails here is told and then forgotten, and the program would run as if it were enforced.
        print(f"detlint: {error}", file=sys.stderr, flush=True)
        os._exit(2)


def _own() -> None:
    """Import the environment's own module of this name, which this one hides."""
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found] # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
if "DETLINT_RUN" in os.environ:
    _attach("detlint.runtime.attach")
if "DETLINT_WATCH" in os.environ:
    _attach("detlint.tracing.attach")
_own()
