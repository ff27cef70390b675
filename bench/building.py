"""What a change costs the person who makes it: the wait between an edit and its tests, and how much code there is."""

import os
import re
import statistics
import subprocess
import time

import servers

# A file deep inside one protocol: what is built again after it changed is what depends on that protocol.
EDITED = os.path.join(servers.ROOT, "crates/protocols/nlweb/src/inbound/ask.rs")
BUILDS = {
    "its tests": ["--package", "interlingua-nlweb", "--tests"],
    "all": ["--workspace", "--bins", "--tests", "--examples"],
}
TEST_CODE = re.compile(r"(^|/)(tests|benches|examples|testkit|store-contract)/|/tests\.rs$")


def building(rounds):
    return {**{name: edit_loop(arguments, rounds) for name, arguments in BUILDS.items()}, "lines": lines_of_code()}


def edit_loop(arguments, rounds):
    """The median seconds from saving the file to programs that can be run, everything else being built."""
    command = ["cargo", "build", "--locked", "--quiet", *arguments]
    subprocess.run(command, cwd=servers.ROOT, check=True)
    taken = []
    for _ in range(rounds):
        os.utime(EDITED)
        started = time.monotonic()
        subprocess.run(command, cwd=servers.ROOT, check=True)
        taken.append(time.monotonic() - started)
    return statistics.median(taken)


def lines_of_code():
    """Lines of Rust in the crates, without tests, comments and blank lines."""
    listed = subprocess.run(["git", "ls-files", "crates/*.rs"], cwd=servers.ROOT, capture_output=True, text=True, check=True)
    return sum(code_lines(os.path.join(servers.ROOT, path)) for path in listed.stdout.split() if not TEST_CODE.search(path))


def code_lines(path):
    """Up to the file's own tests, which stand at its end."""
    with open(path) as file:
        code = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", file.read(), maxsplit=1, flags=re.MULTILINE)[0]
    return sum(1 for line in code.splitlines() if line.strip() and not line.strip().startswith("//"))
