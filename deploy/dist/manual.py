"""Manual pages and completions, made by the program itself: its help is their text."""

import re
import subprocess
from datetime import datetime, timezone

from archive import File, epoch, gzipped

SHELLS = {
    "bash": "usr/share/bash-completion/completions/interlingua",
    "zsh": "usr/share/zsh/vendor-completions/_interlingua",
    "fish": "usr/share/fish/vendor_completions.d/interlingua.fish",
}


def said(program, *arguments):
    """What the program prints, whatever the terminal and the environment of the person who builds."""
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, check=True, env=environment, stdin=subprocess.DEVNULL)
    return ran.stdout


def completions(program):
    return [File(path, said(program, "completions", shell).encode()) for shell, path in SHELLS.items()]


def pages(program, version):
    """`interlingua.1`, and a page for each command."""
    overview = said(program, "--help")
    found = [page("interlingua", overview, version, related(overview))]
    for command in commands(overview):
        found.append(page(f"interlingua-{command}", said(program, command, "--help"), version, ["interlingua"]))
    return found


def commands(overview):
    listed = overview.split("\nCommands:\n")[1].split("\n\n")[0]
    names = re.findall(r"^  ([a-z]+)", listed, re.MULTILINE)
    return [name for name in names if name != "help"]


def related(overview):
    return [f"interlingua-{command}" for command in commands(overview)]


def page(name, help_text, version, see_also):
    about, rest = help_text.split("\n\nUsage: ", 1)
    usage, _, body = rest.partition("\n\n")
    day = datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%d")
    first = about.splitlines()[0]
    lines = [
        f'.TH {name.upper()} 1 "{day}" "interlingua {version}" "User Commands"',
        ".SH NAME", rf"{escaped(name)} \- {escaped(first)}",
        ".SH SYNOPSIS", *literal(usage),
        ".SH DESCRIPTION", *paragraphs(about),
    ]
    for block in body.rstrip().split("\n\n"):
        title, _, content = block.partition(":\n")
        if content and re.fullmatch(r"[A-Z][A-Za-z ]+", title):
            lines += [f".SH {title.upper()}", *literal(content)]
        else:
            lines += [".PP", *literal(block)]
    lines += [".SH SEE ALSO", ",\n".join(rf".BR {escaped(other)} (1)" for other in see_also)]
    path = f"usr/share/man/man1/{name}.1.gz"
    return File(path, gzipped(("\n".join(lines) + "\n").encode()))


def paragraphs(text):
    for paragraph in text.split("\n\n"):
        yield ".PP"
        yield escaped(paragraph)


def literal(text):
    """Columns as they stand."""
    return [".nf", *map(escaped, text.splitlines()), ".fi"]


def escaped(line):
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + line if line.startswith((".", "'")) else line
