"""detlint finds, repairs and prevents nondeterminism in machine-learning code."""

# Nothing is imported here: `python -m detlint` would find it in the current folder, which is what is to be checked.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from detlint.extension import Shell

__version__ = "0.1.0"


def load_ipython_extension(shell: "Shell") -> None:
    """`%load_ext detlint` in a notebook."""
    from detlint import extension

    extension.load(shell)


def unload_ipython_extension(shell: "Shell") -> None:
    """`%unload_ext detlint` in a notebook."""
    from detlint import extension

    extension.unload(shell)
