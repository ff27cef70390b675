"""What every callee of the matrix plays, so that each caller can be held to the same words."""

ANSWER = "forty-two"
PIECES = ["one ", "two ", "three"]
QUESTION = "Which day?"
FAILURE = "out of paper"
REPORT = "page one"
# Longer than what travels inline anywhere, and not text.
BYTES = bytes(n * 7 % 251 for n in range(300_000))
# Shorter than what a member of a team may answer.
LONG = "a long answer, " * 16_000
# What comes back beside what was heard, of whoever can say it.
BACK_BYTES = b"kappa-bytes"
BACK_LINK = "https://lambda.example/"
# As good as for ever: whoever waits for it has to give up or be told.
SLOW = 600
