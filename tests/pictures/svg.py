"""A terminal's screen as SVG: one that stands still, or one whose lines come in the time they came in."""

from itertools import groupby
from xml.sax.saxutils import escape

_CHARACTER, _LINE, _MARGIN = 7.8, 17, 12
_STYLE = """
    text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre }
    .strong { font-weight: bold; fill: #f0f6fc } .faint { fill: #7d8590 } .good { fill: #56d364 }
    .warning { fill: #e3b341 } .bad { fill: #ff7b72 }
"""
_PLAIN_LINES = {"#": "faint", "$": "strong"}


def _line(cells, row):
    """One <text>; pieces of one tone have their own place, so that no font can shift them."""
    pieces, column = [], 0
    if cells and all(tone == "plain" for _, tone in cells):
        # The demo has no colours of its own: comments and commands stand out.
        tone = _PLAIN_LINES.get(cells[0][0], "plain")
        cells = [(character, tone) for character, _ in cells]
    for tone, group in groupby(cells, key=lambda cell: cell[1]):
        group = list(group)
        text = "".join(character for character, _ in group)
        if text.strip():
            lead = len(text) - len(text.lstrip(" "))
            place = _MARGIN + (column + lead) * _CHARACTER
            width = (len(group) - lead - (len(text) - len(text.rstrip(" ")))) * _CHARACTER
            kind = "" if tone == "plain" else f' class="{tone}"'
            pieces.append(f'<tspan x="{place:.1f}" textLength="{width:.1f}"{kind}>{escape(text.strip(" "))}</tspan>')
        column += len(group)
    return f'<text y="{_MARGIN + (row + 0.8) * _LINE:.1f}">{"".join(pieces)}</text>' if pieces else ""


def _document(title, columns, rows, style, body):
    width, height = 2 * _MARGIN + columns * _CHARACTER, 2 * _MARGIN + rows * _LINE
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
            f'role="img">\n  <title>{escape(title)}</title>\n  <style>{_STYLE}{style}  </style>\n'
            f'  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n{body}</svg>\n')


def still(title, screen):
    rows = screen.rows
    while rows and not rows[-1]:
        rows = rows[:-1]
    lines = [_line(cells, row) for row, cells in enumerate(rows)]
    return _document(title, screen.columns, len(rows), "", "".join(f"  {line}\n" for line in lines if line))


def moving(title, screen, times, rows, hold):
    """`times`: the second in which each row of the screen came. Shows so many rows and scrolls; begins again after `hold`
    seconds. Whoever wants no motion sees all lines at once."""
    total = times[-1] + hold
    style, body, offsets = "", "", []
    for row, cells in enumerate(screen.rows):
        line = _line(cells, row)
        share = 100 * times[row] / total
        if row >= rows:
            offsets.append((share, (row - rows + 1) * _LINE))
        if line:
            style += f"    @keyframes l{row} {{ 0% {{ opacity: 0 }} {share:.2f}% {{ opacity: 1 }} 100% {{ opacity: 1 }} }}\n"
            body += f'      <g style="animation-name: l{row}">{line}</g>\n'
    scroll = "".join(f"{share:.2f}% {{ transform: translateY(-{offset}px) }} " for share, offset in offsets)
    last = offsets[-1][1] if offsets else 0
    style += f"    @keyframes scroll {{ 0% {{ transform: none }} {scroll}100% {{ transform: translateY(-{last}px) }} }}\n"
    style += (f"    @media (prefers-reduced-motion: no-preference) {{ g {{ animation: {total:.1f}s step-end infinite }} "
              "#scroll { animation-name: scroll } }\n")
    clip = (f'  <clipPath id="window"><rect width="100%" height="{_MARGIN + rows * _LINE}"/></clipPath>\n')
    return _document(title, screen.columns, rows, style,
                     f'{clip}  <g clip-path="url(#window)"><g id="scroll">\n{body}  </g></g>\n')
