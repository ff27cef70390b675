"""What the Python clients of both SDK versions check, and how they say it: one line a check, and a sum at the end."""

import argparse
import sys
import traceback


def arguments(modes):
    """The command line that all clients share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", default="", help="what the hub puts before names")
    parser.add_argument("--mode", choices=modes, default=modes[0], help="how to find the revision to speak")
    parser.add_argument("target", nargs=argparse.REMAINDER, help="a URL, or a command that speaks on stdio")
    return parser.parse_args()


class Checks:
    """Counts what holds."""

    def __init__(self):
        self.held, self.failed = 0, 0

    async def holds(self, name, check):
        """Runs one check to its end; a failed one does not stop the next."""
        try:
            await check()
            self.held += 1
            print(f"ok {name}")
        except Exception:  # whatever it is, it is this check's failure
            self.failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")

    def end(self):
        """Says the sum and ends the program."""
        print(f"{self.held} of {self.held + self.failed} checks hold")
        sys.exit(1 if self.failed else 0)


def text(result):
    """The text of a result that has one block of it first."""
    return result.content[0].text


def same(found, expected):
    """Fails with both sides where they differ."""
    assert found == expected, f"{found!r} is not {expected!r}"


def within(expected, found):
    """Fails with both sides where one is not in the other."""
    assert expected in found, f"{expected!r} is not in {found!r}"
