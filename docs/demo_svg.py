#!/usr/bin/env python3
"""Draws docs/demo.svg, the picture in README.md, from docs/demo.txt, the output of a real run.

    docs/demo_svg.py
"""

from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent
FONT_SIZE, LINE, CHARACTER, MARGIN = 13, 18, 7.83, 16
COLOURS = {"$": "#7ee787", "freshness": "#ffa657", "uniform": "#ffa657"}

lines = (FOLDER / "demo.txt").read_text().rstrip("\n").split("\n")
width = round(max(map(len, lines)) * CHARACTER + 2 * MARGIN)
height = len(lines) * LINE + 2 * MARGIN

texts = []
for number, line in enumerate(lines):
    colour = next((colour for start, colour in COLOURS.items() if line.startswith(start)), "#e6edf3")
    y = MARGIN + number * LINE + FONT_SIZE
    texts.append(f'<text x="{MARGIN}" y="{y}" fill="{colour}">{escape(line)}</text>')

(FOLDER / "demo.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
    f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n'
    f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{FONT_SIZE}" xml:space="preserve">\n'
    + "\n".join(texts)
    + "\n</g>\n</svg>\n"
)
