/// The results as one table, whose columns are aligned in the source text, too.
enum MarkdownTable {
    private static let heads = [
        "row", "server", "calls/s", "p50 µs", "p99 µs", "p99.9 µs", "CPU µs/call", "peak MiB", "result", "limit",
    ]

    static func render(_ lines: [Line]) -> String {
        let rows = [heads] + lines.map(cells)
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var rendered = rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let room = String(repeating: " ", count: widths[column] - cell.count)
                return isNumber(column) ? room + cell : cell + room
            }
            return "| " + cells.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            isNumber(column) ? String(repeating: "-", count: width - 1) + ":" : String(repeating: "-", count: width)
        }
        rendered.insert("| " + rule.joined(separator: " | ") + " |", at: 1)
        return rendered.joined(separator: "\n")
    }

    private static func isNumber(_ column: Int) -> Bool { (2...7).contains(column) }

    private static func cells(_ line: Line) -> [String] {
        func figure(_ value: Double?, _ digits: Int) -> String { value.map { text($0, digits: digits) } ?? "" }
        let figures = line.figures
        return [
            line.row, line.server, figure(figures.callsPerSecond, 0), figure(figures.p50, 1), figure(figures.p99, 1),
            figure(figures.p999, 1), figure(figures.serverCPU, 2), figure(figures.peakMiB, 1),
            line.finding?.valueText ?? "", line.finding?.boundText ?? "",
        ]
    }
}
