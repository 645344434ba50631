"""Sections of the figures, as Markdown."""


class Section:
    def __init__(self, title, head, about=""):
        self.title, self.head, self.about = title, head, about
        self.rows, self.notes = [], []

    def row(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def missing(self, what, why):
        self.row(what, f"missing: {why}", *[""] * (len(self.head) - 2))

    def markdown(self):
        lines = [f"**{self.title}.** {self.about}".rstrip(), ""]
        lines.append("| " + " | ".join(self.head) + " |")
        lines.append("|" + "---|" * len(self.head))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines)


def times(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def micros(seconds):
    value = seconds * 1e6
    return f"{value:.1f} µs" if value < 100 else f"{value:.0f} µs"


def mebibytes(count):
    return f"{count / 2**20:.1f} MiB"


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
