"""What was measured in several rounds, as a table, and the limits that it has."""

import statistics


class Figures:
    def __init__(self):
        self.values = {}

    def add(self, name, values):
        """Adds values of a row; rows stand in the order in which they came."""
        self.values.setdefault(name, []).extend(values)

    def median(self, name):
        """The median of a row; None: it was not measured."""
        return statistics.median(self.values[name]) if self.values.get(name) else None

    def table(self):
        lines = ["| what | smallest | median | p99 |", "| --- | --- | --- | --- |"]
        for name, values in self.values.items():
            ordered = sorted(values)
            p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
            lines.append(f"| {name} | {ordered[0]:.1f} | {statistics.median(ordered):.1f} | {p99:.1f} |")
        return "\n".join(lines)


class Limit:
    """A bound of a median, or of the difference of two."""

    def __init__(self, name, bound, *, times=1, of=None, plus=0, less=None):
        self.name = name
        self.bound = bound
        self.times = times
        self.of = of
        self.plus = plus
        self.less = less

    def finding(self, figures):
        """The line of the report, and whether the limit holds; None: a row is missing."""
        needed = [name for name in (self.name, self.of, self.less) if name]
        if any(figures.median(name) is None for name in needed):
            return None
        value = figures.median(self.name) - (figures.median(self.less) if self.less else 0)
        limit = figures.median(self.of) * self.times + self.plus if self.of else self.plus
        is_kept = value <= limit
        what = f"{self.name}, less {self.less}" if self.less else self.name
        return f"{'OK  ' if is_kept else 'PAST'}  {what}: {value:.1f}  (at most {limit:.1f}, {self.bound})", is_kept


def check(figures, limits):
    """The report of all limits, and whether they hold."""
    findings = [finding for limit in limits if (finding := limit.finding(figures))]
    missing = len(limits) - len(findings)
    past = sum(not is_kept for _, is_kept in findings)
    summary = f"{past} of {len(findings)} limits are past." if past else f"All {len(findings)} limits hold."
    if missing:
        summary += f" {missing} were not measured."
    return "\n".join([line for line, _ in findings] + [summary]), past == 0
