"""Print a script that completes the verbs and options of `mlgt` in a shell.

To install it, add the first line to ~/.bashrc, the second to ~/.zshrc after
compinit, or run the third for fish:

    eval "$(mlgt completion bash)"
    eval "$(mlgt completion zsh)"
    mlgt completion fish > ~/.config/fish/completions/mlgt.fish
"""

import argparse
import re
from dataclasses import dataclass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", metavar="SHELL", choices=tuple(SCRIPTS), help=f"one of {', '.join(SCRIPTS)}"
    )


def run(options: argparse.Namespace) -> None:
    from .main import make_parser

    print(SCRIPTS[options.shell](describe(make_parser())), end="")


@dataclass(frozen=True)
class Argument:
    """An option, or a positional argument if it has no flags."""

    flags: tuple[str, ...]
    help: str
    takes: str  # kind of its value: "nothing", "choice", "path" or "text"
    name: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verb:
    """A verb with its arguments."""

    name: str
    help: str
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> list[Argument]:
        """The arguments with flags."""
        return [argument for argument in self.arguments if argument.flags]

    @property
    def positionals(self) -> list[Argument]:
        """The arguments without flags."""
        return [argument for argument in self.arguments if not argument.flags]


def describe(parser: argparse.ArgumentParser) -> tuple[list[Argument], list[Verb]]:
    """Return the options of `mlgt` itself, and its verbs."""
    verbs = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            for name, sub in action.choices.items():
                verbs.append(Verb(name, _line(helps[name]), tuple(_arguments(sub))))
    return list(_arguments(parser)), verbs


def _arguments(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        values = vars(action) | {"prog": parser.prog}
        text = _line((action.help or "") % values)
        choices = tuple(map(str, action.choices or ()))
        if action.nargs == 0:
            takes = "nothing"
        else:
            takes = "choice" if choices else "path" if action.type is None else "text"
        name = action.metavar if isinstance(action.metavar, str) else action.dest
        yield Argument(tuple(action.option_strings), text, takes, name, choices)


def _line(text):
    return re.sub(r"\s+", " ", text)


def bash_script(described: tuple[list[Argument], list[Verb]]) -> str:
    """Return the script for bash."""
    general, verbs = described
    flags = " ".join(flag for option in general for flag in option.flags)
    cases = []
    for verb in verbs:
        for option in verb.options:
            if option.takes != "nothing":
                names = "|".join(f"'{verb.name} {flag}'" for flag in option.flags)
                cases.append(f"        {names}) {_bash_value(option)} return;;")
    places = []
    for verb in verbs:
        own = " ".join(flag for option in verb.options for flag in option.flags)
        choices = " ".join(choice for place in verb.positionals for choice in place.choices)
        places.append(f"        {verb.name}) options='{own}' words='{choices}';;")
    return f"""# Completion of mlgt for bash; from `mlgt completion bash`.
_mlgt() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}}
    local options= words=
    COMPREPLY=()
    if [ "$word" = = ]; then word=; elif [ "$before" = = ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W '{" ".join(verb.name for verb in verbs)} {flags}' -- "$word"))
        return
    fi
    case "$verb $before" in
{chr(10).join(cases)}
    esac
    case "$verb" in
{chr(10).join(places)}
    esac
    case "$word" in -*) words=$options;; esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _mlgt mlgt
"""


def _bash_value(option):
    """Complete the choices of an option; without any, bash completes file names."""
    return f"COMPREPLY=($(compgen -W '{' '.join(option.choices)}' -- \"$word\"));" if option.choices else ""


def zsh_script(described: tuple[list[Argument], list[Verb]]) -> str:
    """Return the script for zsh."""
    general, verbs = described
    names = "\n".join(f"            {_zsh_quote(_zsh_text(v.name) + ':' + v.help)}" for v in verbs)
    cases = []
    for verb in verbs:
        specs = [*(_zsh_option(option) for option in verb.options)]
        specs += [_zsh_place(place, number) for number, place in enumerate(verb.positionals, start=1)]
        lines = " \\\n".join(f"                {spec}" for spec in specs)
        cases.append(f"            {verb.name}) _arguments -s \\\n{lines} ;;")
    tops = " \\\n".join(f"        {_zsh_option(option)}" for option in general)
    return f"""#compdef mlgt
# Completion of mlgt for zsh; from `mlgt completion zsh`.
_mlgt() {{
    local curcontext=$curcontext state line
    typeset -A opt_args
    _arguments -C \\
{tops} \\
        '1: :->verb' '*:: :->rest'
    case $state in
    verb)
        local -a verbs
        verbs=(
{names}
        )
        _describe -t verbs verb verbs ;;
    rest)
        case $line[1] in
{chr(10).join(cases)}
        esac ;;
    esac
}}
if [ "$funcstack[1]" = _mlgt ]; then _mlgt "$@"; else compdef _mlgt mlgt; fi
"""


def _zsh_option(option):
    flags, help = option.flags, _zsh_text(option.help)
    value = "" if option.takes == "nothing" else f":{_zsh_text(option.name)}:{_zsh_action(option)}"
    if len(flags) == 1:
        return _zsh_quote(f"{flags[0]}[{help}]{value}")
    return f"'({' '.join(flags)})'{{{','.join(flags)}}}{_zsh_quote(f'[{help}]{value}')}"


def _zsh_place(place, number):
    return _zsh_quote(f"{number}:{_zsh_text(place.name)}:{_zsh_action(place)}")


def _zsh_action(argument):
    if argument.choices:
        return f"({' '.join(argument.choices)})"
    return "_files" if argument.takes == "path" else " "


def _zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def _zsh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def fish_script(described: tuple[list[Argument], list[Verb]]) -> str:
    """Return the script for fish."""
    general, verbs = described
    lines = ["# Completion of mlgt for fish; from `mlgt completion fish`.", "complete -c mlgt -f"]
    lines += [_fish(option, "__fish_use_subcommand") for option in general]
    for verb in verbs:
        lines.append(
            f"complete -c mlgt -n __fish_use_subcommand -a {verb.name} -d {_fish_quote(verb.help)}"
        )
        seen = f"'__fish_seen_subcommand_from {verb.name}'"
        lines += [_fish(option, seen) for option in verb.options]
        for place in verb.positionals:
            values = f"-a {_fish_quote(' '.join(place.choices))}" if place.choices else "-F"
            lines.append(f"complete -c mlgt -n {seen} {values}")
    return "\n".join(lines) + "\n"


def _fish(option, condition):
    kinds = ("-l " if flag.startswith("--") else "-s " for flag in option.flags)
    flags = " ".join(kind + flag.lstrip("-") for kind, flag in zip(kinds, option.flags))
    value = {"nothing": "", "path": " -r -F", "text": " -x"}.get(option.takes)
    if value is None:
        value = f" -x -a {_fish_quote(' '.join(option.choices))}"
    return f"complete -c mlgt -n {condition} {flags}{value} -d {_fish_quote(option.help)}"


def _fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
