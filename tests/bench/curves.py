"""A grid of line charts as one SVG file that needs nothing else."""

import html
import math
from dataclasses import dataclass, field

COLOURS = ["#7f7f7f", "#bcbd22", "#17becf", "#1f77b4", "#9467bd", "#ff7f0e", "#8c564b", "#2ca02c", "#d62728"]
WIDTH, HEIGHT = 290, 190                      # of a chart, with what stands around it
LEFT, TOP, RIGHT, BOTTOM = 48, 22, 10, 30     # of its frame, from there
HEAD = 46                                     # above the grid: the legend


@dataclass
class Chart:
    title: str
    y_unit: str
    lines: dict                                     # name: [(x, y)]
    limits: dict = field(default_factory=dict)      # likewise, drawn dashed: what can not be passed
    mark: float = None                              # an x with a vertical line
    is_logarithmic: bool = False                    # y


def ticks(low, high, count=4):
    """Round numbers between both."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step = next(step * by for by in (1, 2, 5, 10) if (high - low) / (step * by) <= count)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def powers(low, high):
    return [by * 10 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for by in (1, 2, 5) if low <= by * 10 ** e <= high]


def scale(low, high, start, end, is_logarithmic=False):
    to = math.log if is_logarithmic else float
    return lambda value: start + (to(value) - to(low)) / (to(high) - to(low)) * (end - start)


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(words)}</text>'


def polyline(points, colour, extra=""):
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" stroke="{colour}"{extra}/>'


def draw_chart(chart, colours):
    points = [point for line in (*chart.lines.values(), *chart.limits.values()) for point in line]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    high_x += (high_x == low_x) * (low_x or 1)
    low_y, high_y = (min(y for _, y in points) * 0.9 if chart.is_logarithmic else 0), max(y for _, y in points) * 1.05
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    at_x = scale(low_x, high_x, LEFT, right)
    at_y = scale(low_y, high_y, bottom, TOP, chart.is_logarithmic)
    drawn = [text(LEFT, TOP - 8, f"{chart.title}, {chart.y_unit}", "start", ' class="title"')]
    for y in (powers if chart.is_logarithmic else ticks)(low_y, high_y):
        drawn += [polyline([(LEFT, at_y(y)), (right, at_y(y))], "#dddddd"), text(LEFT - 4, at_y(y) + 3, f"{y:g}", "end")]
    for x in ticks(low_x, high_x):
        drawn.append(text(at_x(x), bottom + 13, f"{x:g}"))
    drawn.append(text(right, HEIGHT - 5, "GB of data", "end"))
    if chart.mark is not None and low_x <= chart.mark <= high_x:
        drawn += [polyline([(at_x(chart.mark), TOP), (at_x(chart.mark), bottom)], "#000000", ' stroke-dasharray="2 3"')]
    for name, line in chart.lines.items():
        drawn += [f"<g><title>{html.escape(name)}</title>",
                  polyline([(at_x(x), at_y(y)) for x, y in line], colours[name], ' stroke-width="1.5"'), "</g>"]
    for line in chart.limits.values():
        drawn.append(polyline([(at_x(x), at_y(y)) for x, y in line], "#000000", ' stroke-dasharray="5 3"'))
    return drawn


def draw(path, caption, rows):
    """@param rows  of charts, side by side"""
    names = list(dict.fromkeys(name for row in rows for chart in row for name in chart.lines))
    colours = dict(zip(names, COLOURS))
    width, height = WIDTH * max(map(len, rows)), HEAD + HEIGHT * len(rows)
    drawn = [text(LEFT, 16, caption, "start", ' class="title"')]
    for i, name in enumerate(names):
        x = LEFT + 105 * i
        drawn += [polyline([(x, 32), (x + 18, 32)], colours[name], ' stroke-width="3"'), text(x + 22, 36, name, "start")]
    for i, row in enumerate(rows):
        for k, chart in enumerate(row):
            drawn += [f'<g transform="translate({WIDTH * k} {HEAD + HEIGHT * i})">', *draw_chart(chart, colours), "</g>"]
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="9" fill="#222222">\n<style>polyline{fill:none} .title{font-size:11px}</style>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(drawn) + "\n</svg>\n", encoding="utf-8")
