"""What every callee of the matrix plays, so that each caller is held to the same words."""

import base64

ANSWER = "forty-two"
PIECES = ["one ", "two ", "three"]
# Between two pieces, so that they are not joined on the way.
PAUSE = 0.25
QUESTION = "Which day?"
FAILURE = "out of paper"
REPORT = "page one"
# Longer than what travels inline anywhere, and not UTF-8.
BYTES = bytes(n * 7 % 251 for n in range(300_000))
# The same where a protocol has only text.
BYTES_AS_TEXT = "data:application/octet-stream;base64," + base64.b64encode(BYTES).decode()
# Shorter than what a member of a team may answer.
LONG = "a long answer, " * 16_000
# What comes back beside what was heard, of whoever can say it.
BACK_BYTES = b"kappa-bytes"
BACK_LINK = "https://lambda.example/"
# As good as for ever: whoever waits for it has to give up or be told.
SLOW = 600
