"""The measured values of several rounds, as a table, and their limits."""

import statistics


class Figures:
    def __init__(self):
        self.values = {}

    def add(self, name, values):
        """Adds values to a row; rows keep the order of their first values."""
        self.values.setdefault(name, []).extend(values)

    def value(self, name, statistic):
        """Returns a statistic of a row, such as `min`; None if it was not measured."""
        return statistic(self.values[name]) if self.values.get(name) else None

    def table(self):
        lines = ["| what | smallest | median | p99 |", "| --- | --- | --- | --- |"]
        for name, values in self.values.items():
            ordered = sorted(values)
            p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
            lines.append(f"| {name} | {ordered[0]:.1f} | {statistics.median(ordered):.1f} | {p99:.1f} |")
        return "\n".join(lines)


class Limit:
    """A limit of a row, or of the difference of two. It compares the smallest values, which other programs disturb
    least, or the medians of rows that are measured in turn."""

    def __init__(self, name, bound, *, times=1, of=None, plus=0, less=None, statistic=min):
        self.name = name
        self.bound = bound
        self.times = times
        self.of = of
        self.plus = plus
        self.less = less
        self.statistic = statistic

    def finding(self, figures):
        """Returns the line of the report, and whether the limit holds; None if a row is missing."""
        row, of, less = (figures.value(name, self.statistic) for name in (self.name, self.of, self.less))
        if row is None or (self.of and of is None) or (self.less and less is None):
            return None
        value = row - (less or 0)
        limit = (of or 0) * self.times + self.plus
        is_kept = value <= limit
        what = f"{self.name}, less {self.less}" if self.less else self.name
        return f"{'OK  ' if is_kept else 'PAST'}  {what}: {value:.1f}  (at most {limit:.1f}, {self.bound})", is_kept


def check(figures, limits):
    """Returns the report of all limits, and whether they hold."""
    findings = [finding for limit in limits if (finding := limit.finding(figures))]
    missing = len(limits) - len(findings)
    past = sum(not is_kept for _, is_kept in findings)
    summary = f"{past} of {len(findings)} limits are past." if past else f"All {len(findings)} limits hold."
    if missing:
        summary += f" {missing} were not measured."
    return "\n".join([line for line, _ in findings] + [summary]), past == 0
