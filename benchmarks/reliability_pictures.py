"""The pictures of docs/reliability.md, as SVG."""

COLORS = {"BA-Shapes": "#4477aa", "BA-Community": "#66ccee", "Tree-Cycles": "#228833", "Tree-Grid": "#ccbb44",
          "BA-2motifs": "#ee6677", "Mutagenicity": "#aa3377"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 400, 60, 20, 40


class Axes:
    """Places of numbers between `low` and `high` in a picture of one panel."""

    def __init__(self, x_range, y_range):
        self.x_range, self.y_range = x_range, y_range
        self.svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
                    'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']

    def x(self, value):
        low, high = self.x_range
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - 20)

    def y(self, value):
        low, high = self.y_range
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM - 20)

    def line(self, x1, y1, x2, y2, style='stroke="#ddd"'):
        self.svg.append(f'<line x1="{self.x(x1):.1f}" x2="{self.x(x2):.1f}" y1="{self.y(y1):.1f}" y2="{self.y(y2):.1f}" {style}/>')

    def dot(self, x, y, color):
        self.svg.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3.5" fill="{color}" fill-opacity="0.7"/>')

    def text(self, x, y, words, anchor="middle"):
        """At a place in the picture, not of numbers."""
        self.svg.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>')

    def x_ticks(self, ticks):
        for tick in ticks:
            self.line(tick, self.y_range[0], tick, self.y_range[1])
            self.text(self.x(tick), self.y(self.y_range[0]) + 16, f"{tick:g}")

    def y_ticks(self, ticks):
        for tick in ticks:
            self.line(self.x_range[0], tick, self.x_range[1], tick)
            self.text(LEFT - 6, self.y(tick) + 4, f"{tick:g}", "end")

    def y_title(self, words):
        middle = self.y(sum(self.y_range) / 2)
        self.svg.append(f'<text x="16" y="{middle:.1f}" transform="rotate(-90 16 {middle:.1f})" text-anchor="middle">{words}</text>')

    def x_title(self, words):
        self.text(self.x(sum(self.x_range) / 2), HEIGHT - 26, words)

    def legend(self, colors):
        place = LEFT - 40
        for title, color in colors.items():
            self.svg.append(f'<circle cx="{place}" cy="{HEIGHT - 10}" r="4" fill="{color}"/>')
            self.text(place + 8, HEIGHT - 6, title, "start")
            place += 26 + 7 * len(title)

    def done(self):
        return "\n".join([*self.svg, "</svg>"]) + "\n"


def score_against_auc(runs):
    """(data, AUC, score) of each run."""
    axes = Axes((-1, 1), (0, 1))
    axes.x_ticks((-1, -.5, 0, .5, 1))
    axes.y_ticks((0, .25, .5, .75, 1))
    for title, auc, score in runs:
        axes.dot(score, auc, COLORS[title])
    axes.x_title("score of the verdict, without ground truth")
    axes.y_title("AUC, held out")
    axes.legend(COLORS)
    return axes.done()


def auc_of_networks(default, paper, goals):
    """Dots for the AUC of networks, {data: [AUC, ...]}: by the paper's objective and by default, beside another."""
    axes = Axes((0, len(default)), (0, 1))
    axes.y_ticks((0, .25, .5, .75, 1))
    grey, blue = "#999999", "#4477aa"
    for k, title in enumerate(default):
        for values, color, start in ((paper[title], grey, .12), (default[title], blue, .54)):
            for n, value in enumerate(values):
                axes.dot(k + start + .32 * n / max(1, len(values) - 1), value, color)
        axes.line(k + .5, goals[title], k + .9, goals[title], 'stroke="#cc3311"')
        axes.text(axes.x(k + .5), axes.y(0) + 16, title)
    axes.y_title("AUC on held-out instances, one dot per network")
    axes.legend({"the paper's objective": grey, "default": blue, "goal for the worst network": "#cc3311"})
    return axes.done()


def gap_against_rivals(gaps):
    """{data: [(largest gap of the other methods, own gap), ...]}: above the line it is more faithful than all others."""
    every = [value for pairs in gaps.values() for pair in pairs for value in pair]
    span = (min(0, min(every)) - .02, max(every) + .02)
    ticks = [t / 4 for t in range(-4, 5) if span[0] <= t / 4 <= span[1]]
    axes = Axes(span, span)
    axes.x_ticks(ticks)
    axes.y_ticks(ticks)
    axes.line(span[0], span[0], span[1], span[1], 'stroke="#888" stroke-dasharray="4 3"')
    for title, pairs in gaps.items():
        for best_other, own in pairs:
            axes.dot(best_other, own, COLORS[title])
    axes.x_title("gap of the best of GNNExplainer, GRAD, Gradient, occlusion and random")
    axes.y_title("gap of pgexplainer")
    axes.legend(COLORS)
    return axes.done()
