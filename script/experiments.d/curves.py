"""Draws the curves of an experiment: curves.py experiments/NAME.table experiments/results/NAME > NAME.svg.

One panel a metric of the table's line `curves`, one line a variant with several seeds: their mean, between the lowest
and the highest."""

import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31", "#7f7f7f", "#9467bd"]
PANEL, HEIGHT, COLUMNS, LEFT, TOP, GAP = 300, 190, 3, 48, 30, 34


def nice_step(span, count=4):
    raw = span / count
    power = 10 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)


def by_step(runs):
    """[(step, mean, low, high)] over the runs that have the step."""
    values = {}
    for points in runs:
        for step, value in points:
            values.setdefault(step, []).append(value)
    return [(step, sum(held) / len(held), min(held), max(held)) for step, held in sorted(values.items())]


class Panel:
    def __init__(self, x, y, title, lines):
        self.x, self.y, self.title, self.lines = x, y, title, lines
        points = [point for _, line in lines for point in line]
        self.last = max(step for step, *_ in points)
        low, high = min(point[2] for point in points), max(point[3] for point in points)
        margin = (high - low or abs(high) or 1) * 0.06
        self.low, self.high = low - margin, high + margin

    def place(self, step, value):
        return (self.x + LEFT + (PANEL - LEFT) * step / max(self.last, 1),
                self.y + TOP + HEIGHT * (self.high - value) / (self.high - self.low))

    def ticks(self):
        step = nice_step(self.high - self.low)
        tick = math.ceil(self.low / step) * step
        while tick <= self.high:
            yield tick, f"{tick:.{max(0, -math.floor(math.log10(step)))}f}"
            tick += step

    def draw(self):
        yield f'<text x="{self.x + LEFT}" y="{self.y + 18}" class="title">{escape(self.title)}</text>'
        for value, label in self.ticks():
            left, y = self.place(0, value)
            yield f'<path d="M{left:.1f} {y:.1f}H{self.x + PANEL}" class="grid"/>'
            yield f'<text x="{left - 6:.1f}" y="{y + 4:.1f}" class="tick" text-anchor="end">{label}</text>'
        bottom = self.y + TOP + HEIGHT
        yield f'<text x="{self.x + LEFT}" y="{bottom + 16}" class="tick">0</text>'
        yield f'<text x="{self.x + PANEL}" y="{bottom + 16}" class="tick" text-anchor="end">{self.last} steps</text>'
        for color, line in self.lines:
            there = [self.place(step, high) for step, _, _, high in line]
            back = [self.place(step, low) for step, _, low, _ in reversed(line)]
            band = " ".join(f"{x:.1f},{y:.1f}" for x, y in there + back)
            mean = " ".join("{:.1f},{:.1f}".format(*self.place(step, value)) for step, value, *_ in line)
            yield f'<polygon points="{band}" fill="{color}" opacity="0.13"/>'
            yield f'<polyline points="{mean}" fill="none" stroke="{color}" stroke-width="1.8"/>'


def legend(variants):
    x, y, width = LEFT, 24, PANEL * COLUMNS + GAP * (COLUMNS - 1)
    for color, name in variants:
        advance = 34 + 7.4 * len(name)
        if x + advance > width:
            x, y = LEFT, y + 20
        yield y, (f'<path d="M{x} {y - 4}h18" stroke="{color}" stroke-width="3"/>'
                  f'<text x="{x + 24}" y="{y}" class="name">{escape(name)}</text>')
        x += advance


def main(table, folder):
    lines = [line.split() for line in pathlib.Path(table).read_text().splitlines() if line and line[0] != "#"]
    metrics = [name for words in lines if words[0] == "curves" for name in words[1:]]
    variants = [words[1] for words in lines if words[0] == "run" and "," in words[2]]
    runs = {name: [json.loads(file.read_text())["curves"] for file in sorted(pathlib.Path(folder).glob(f"{name}-[0-9].json"))]
            for name in variants}
    colors = dict(zip(variants, COLORS))
    drawn = list(legend([(colors[name], name) for name in variants if runs[name]]))
    top = (drawn[-1][0] if drawn else 0) + 14
    body = [text for _, text in drawn]
    panels = 0
    for metric in metrics:
        held = [(colors[name], by_step([run[metric] for run in runs[name] if metric in run])) for name in variants]
        held = [(color, line) for color, line in held if line]
        if held:
            row, column = divmod(panels, COLUMNS)
            body += Panel(column * (PANEL + GAP), top + row * (HEIGHT + TOP + GAP), metric, held).draw()
            panels += 1
    width = PANEL * COLUMNS + GAP * (COLUMNS - 1) + 16
    height = top + math.ceil(panels / COLUMNS) * (HEIGHT + TOP + GAP)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">\n'
          "<style>text{font-family:system-ui,sans-serif;fill:#222}.title{font-size:13px;font-weight:600}"
          ".name{font-size:13px}.tick{font-size:11px;fill:#666}.grid{stroke:#ddd;fill:none}</style>\n"
          f'<rect width="{width}" height="{height}" fill="#fff"/>')
    print("\n".join(body) + "\n</svg>")


main(*sys.argv[1:])
