"""What a callee notes of the work that takes hours: that it began, and how it ended. The test reads the file.

The file is named by the environment, one for each program. Without one nothing is noted.
"""

import os


def note(what):
    if path := os.environ.get("MATRIX_NOTES"):
        with open(path, "a") as notes:
            notes.write(f"{what}\n")
