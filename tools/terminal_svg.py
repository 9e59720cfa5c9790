#!/usr/bin/env python3
"""terminal_svg.py TITLE <TEXT >PICTURE.svg: draws the text of a terminal as a picture for the documentation."""

import html
import sys

CHARACTER_WIDTH = 7.8
LINE_HEIGHT = 17
MARGIN = 16
BAR = 28
STYLES = {"$": "fill='#7ee787'", "[E]": "fill='#ff7b72'", "[W]": "fill='#e3b341'", "----": "fill='#79c0ff'",
          "====": "fill='#d2a8ff'"}


def style(line: str) -> str:
    return next((style for start, style in STYLES.items() if line.lstrip().startswith(start)), "fill='#c9d1d9'")


def main() -> None:
    lines = sys.stdin.read().rstrip("\n").split("\n")
    width = int(max(map(len, lines)) * CHARACTER_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + BAR + MARGIN
    print(f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>")
    print(f"<rect width='{width}' height='{height}' rx='8' fill='#0d1117'/>")
    print(f"<text x='{MARGIN}' y='19' font-family='sans-serif' font-size='12' fill='#8b949e'>{html.escape(sys.argv[1])}</text>")
    print("<g font-family='monospace' font-size='13' xml:space='preserve'>")
    for i, line in enumerate(lines):
        y = BAR + (i + 1) * LINE_HEIGHT - 4
        print(f"<text x='{MARGIN}' y='{y}' {style(line)}>{html.escape(line)}</text>")
    print("</g></svg>")


main()
