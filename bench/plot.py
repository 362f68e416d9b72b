# SPDX-License-Identifier: Apache-2.0
"""Lines over periods or epochs, as an SVG file: no library is needed, and the same data give the same bytes."""
from xml.sax.saxutils import escape

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 80, 220, 40, 60


def ticks(low, high, count=5):
    """Round numbers that span the range."""
    if high <= low:
        high = low + (abs(low) or 1)
    rough = (high - low) / count
    power = 1.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    first = int(low / step) * step
    out = []
    while first <= high + step * 1e-9:
        if first >= low - step * 1e-9:
            out.append(round(first, 10))
        first += step
    return out


def svg(title, label, periods, lines, across_label="steps between two means"):
    """`lines`: name -> list of (period, value), a period being one of `periods`, whose places are evenly apart."""
    values = [value for line in lines.values() for _, value in line]
    low, high = min(values), max(values)
    margin = (high - low or abs(high) or 1) * 0.08
    low, high = low - margin, high + margin
    across = lambda period: LEFT + (WIDTH - LEFT - RIGHT) * (periods.index(period) + 0.5) / len(periods)
    up = lambda value: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT),
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="%d" y="22" font-size="15">%s</text>' % (LEFT, escape(title))]
    for value in ticks(low, high):
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDTH - RIGHT, up(value), up(value)))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%g</text>' % (LEFT - 6, up(value) + 4, value))
    for period in periods:
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (across(period), HEIGHT - BOTTOM + 18, escape(str(period))))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, escape(across_label)))
    out.append('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>' % ((TOP + HEIGHT - BOTTOM) / 2, escape(label)))
    for number, (name, line) in enumerate(sorted(lines.items())):
        colour = COLOURS[number % len(COLOURS)]
        points = [(across(period), up(value)) for period, value in sorted(line, key=lambda point: periods.index(point[0]))]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colour, " ".join("%.1f,%.1f" % p for p in points)))
        out += ['<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>' % (x, y, colour) for x, y in points]
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (WIDTH - RIGHT + 12, TOP + 16 + 18 * number, colour, escape(name)))
    return "\n".join(out + ["</svg>", ""])
