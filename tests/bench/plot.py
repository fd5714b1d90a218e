"""Lines on logarithmic axes as SVG, once for a light page and once for a dark one."""

import math
import os

THEMES = {
    "light": {"text": "#1f2328", "grid": "#d0d7de", "lines": ["#0969da", "#cf222e", "#1a7f37", "#8250df", "#9a6700", "#57606a"]},
    "dark": {"text": "#e6edf3", "grid": "#30363d", "lines": ["#58a6ff", "#ff7b72", "#3fb950", "#bc8cff", "#d29922", "#8b949e"]},
}
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 180, 40, 50


def short(value):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


class Axis:
    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.begin, self.end = begin, end

    def place(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def svg(title, x_label, y_label, lines, theme):
    """`lines`: name to [(x, y)], all over 0."""
    colours = THEMES[theme]
    x = Axis([point[0] for points in lines.values() for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([point[1] for points in lines.values() for point in points], HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="{colours["text"]}">',
           f"<title>{title}</title>", f'<text x="{LEFT}" y="22" font-size="15">{title}</text>']
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
    return "\n".join(out + ["</svg>", ""])


def write(folder, name, title, x_label, y_label, lines):
    os.makedirs(folder, exist_ok=True)
    for theme in THEMES:
        with open(os.path.join(folder, f"{name}-{theme}.svg"), "w", encoding="utf-8") as file:
            file.write(svg(title, x_label, y_label, lines, theme))
