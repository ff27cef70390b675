"""Small line plots as SVG, written beside docs/benchmarks.md. Axes are logarithmic, so that what grows in step is a straight line,
unless a plot wants them even."""

import math
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 300, 70, 130, 20, 45
LEAST = 0.1  # what a logarithm can still show of nothing
COLOURS = ["#0b6bcb", "#c2410c", "#15803d", "#7c3aed"]


def write(name, across, upward, lines):
    """Writes docs/NAME.svg: `lines` has points by the name of each line. Returns how a page shows it."""
    lines = {title: [(max(one, LEAST), max(other, LEAST)) for one, other in line] for title, line in lines.items()}
    return drawn(name, across, upward, lines, axis)


def write_even(name, across, upward, lines):
    """The same with even axes that begin at nothing: what is flat looks flat."""
    return drawn(name, across, upward, lines, even)


def drawn(name, across, upward, lines, scale):
    points = [point for line in lines.values() for point in line]
    x, y = scale([one for one, _ in points], LEFT, WIDTH - RIGHT), scale([one for _, one in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *(text(x(tick), HEIGHT - BOTTOM + 18, label(tick), "middle") for tick in x.ticks),
        *(text(LEFT - 8, y(tick) + 4, label(tick), "end") for tick in y.ticks),
        *(rule(LEFT, y(tick), WIDTH - RIGHT, y(tick)) for tick in y.ticks),
        *(rule(x(tick), TOP, x(tick), HEIGHT - BOTTOM) for tick in x.ticks),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle"),
        text(8, TOP - 6, upward, "start"),
    ]
    for (title, line), colour in zip(lines.items(), COLOURS):
        path = " ".join(f"{x(one):.1f},{y(other):.1f}" for one, other in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(one):.1f}" cy="{y(other):.1f}" r="3" fill="{colour}"/>' for one, other in line]
        parts.append(text(WIDTH - RIGHT + 8, y(line[-1][1]) + 4, title, "start", colour))
    with open(os.path.join(ROOT, "docs", f"{name}.svg"), "w") as file:
        file.write("\n".join([*parts, "</svg>"]) + "\n")
    return f"![{upward} by {across}]({name}.svg)"


class axis:
    """Whole powers of ten around all values, and where a value stands between two places."""

    def __init__(self, values, first, last):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.first, self.last = first, last
        self.ticks = [10.0**power for power in range(self.low, self.high + 1)]

    def __call__(self, value):
        return self.first + (math.log10(value) - self.low) / (self.high - self.low) * (self.last - self.first)


class even:
    """Four to ten steps of a round size, from nothing to beyond the largest value."""

    def __init__(self, values, first, last):
        most = max(values)
        size = 10.0 ** math.floor(math.log10(most))
        step = next(step for step in (size / 4, size / 2, size, size * 2) if most / step <= 8)
        count = math.ceil(most / step)
        self.first, self.last, self.high = first, last, step * count
        self.ticks = [step * number for number in range(count + 1)]

    def __call__(self, value):
        return self.first + value / self.high * (self.last - self.first)


def label(value):
    return f"{value:,.0f}" if value >= 1 and value == int(value) else f"{value:g}"


def text(x, y, words, anchor, colour="#111"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def rule(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'
