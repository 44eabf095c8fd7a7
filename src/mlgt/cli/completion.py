"""Print a script that completes the verbs and options of `mlgt` in a shell.

To install it, add the first line to ~/.bashrc, the second to ~/.zshrc after
compinit, or run the third for fish:

    eval "$(mlgt completion bash)"
    eval "$(mlgt completion zsh)"
    mlgt completion fish > ~/.config/fish/completions/mlgt.fish
"""

import argparse
import os

from .._core.terminal import write_out

SHELLS = ("bash", "zsh", "fish")
REQUEST = "_ARGCOMPLETE"
"""Environment variable by which the script asks `mlgt` for completions."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def run(options: argparse.Namespace) -> None:
    import argcomplete

    write_out(argcomplete.shellcode(["mlgt"], shell=options.shell))


def requested_words() -> list[str] | None:
    """Return the words after `mlgt` on the line that a shell wants completed; None if no shell does."""
    return os.environ.get("COMP_LINE", "").split()[1:] if REQUEST in os.environ else None


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and exit: choices where an argument has some, otherwise file names."""
    import argcomplete

    argcomplete.autocomplete(parser, always_complete_options=False)
