"""Two kinds of pictures as SVG, once for a light page and once for a dark one."""

import math
import os

THEMES = {
    "light": {"text": "#1f2328", "grid": "#d0d7de", "lines": ["#0969da", "#cf222e", "#1a7f37", "#8250df", "#9a6700", "#57606a"]},
    "dark": {"text": "#e6edf3", "grid": "#30363d", "lines": ["#58a6ff", "#ff7b72", "#3fb950", "#bc8cff", "#d29922", "#8b949e"]},
}
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 180, 40, 50


def begin(title, height, colours):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" '
            f'fill="{colours["text"]}">', f"<title>{title}</title>"]


def bars(title, rows, below):
    """`rows`: (name, milliseconds), the first one emphasized. Linear: a bar twice as long took twice the time."""
    def svg(colours):
        height, longest = 46 + 34 * len(rows) + 24, max(value for _, value in rows)
        out = [*begin(title, height, colours), f'<text x="12" y="24" font-size="15">{title}</text>']
        for number, (name, value) in enumerate(rows):
            top = 42 + 34 * number
            width = max(2, value / longest * (WIDTH - 330))
            out.append(f'<text x="210" y="{top + 16}" text-anchor="end">{name}</text>'
                       f'<rect x="220" y="{top}" width="{width:.1f}" height="22" fill="{colours["lines"][0 if number == 0 else 5]}"/>'
                       f'<text x="{228 + width:.1f}" y="{top + 16}" font-weight="bold">{value:.{1 if value < 10 else 0}f} ms</text>')
        out.append(f'<text x="12" y="{height - 10}" font-size="11" opacity="0.7">{below}</text>')
        return out
    return svg


class Axis:
    """Logarithmic."""

    def __init__(self, values, first, last):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.first, self.last = first, last

    def place(self, value):
        return self.first + (math.log10(value) - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def short(value):
    return next((f"{value / limit:g}{unit}" for limit, unit in ((1e6, "M"), (1e3, "k")) if value >= limit), f"{value:g}")


def curves(title, x_label, y_label, lines, below):
    """`lines`: name to [(x, y)], all over 0."""
    def svg(colours):
        height = HEIGHT + 16
        x = Axis([point[0] for points in lines.values() for point in points], LEFT, WIDTH - RIGHT)
        y = Axis([point[1] for points in lines.values() for point in points], HEIGHT - BOTTOM, TOP)
        out = [*begin(title, height, colours), f'<text x="{LEFT}" y="22" font-size="15">{title}</text>']
        for tick in x.ticks():
            at = x.place(tick)
            out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{colours["grid"]}"/>'
                       f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{short(tick)}</text>')
        for tick in y.ticks():
            at = y.place(tick)
            out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="{colours["grid"]}"/>'
                       f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{short(tick)}</text>')
        out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x_label}</text>'
                   f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{y_label}</text>')
        for number, (name, points) in enumerate(lines.items()):
            colour = colours["lines"][number % len(colours["lines"])]
            path = "L".join(f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in points)
            out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out += [f'<circle cx="{x.place(a):.1f}" cy="{y.place(b):.1f}" r="3" fill="{colour}"/>' for a, b in points]
            at = TOP + 12 + 20 * number
            out.append(f'<path d="M{WIDTH - RIGHT + 14} {at}h18" stroke="{colour}" stroke-width="3"/>'
                       f'<text x="{WIDTH - RIGHT + 38}" y="{at + 4}">{name}</text>')
        out.append(f'<text x="12" y="{height - 8}" font-size="11" opacity="0.7">{below}</text>')
        return out
    return svg


def write(folder, name, svg):
    os.makedirs(folder, exist_ok=True)
    for theme, colours in THEMES.items():
        with open(os.path.join(folder, f"{name}-{theme}.svg"), "w", encoding="utf-8") as file:
            file.write("\n".join([*svg(colours), "</svg>", ""]))
