import BridgeJSON
import Glibc

/// A list of objects as an aligned table, with numbers aligned to the right. Shows all members: columns appear in the
/// order of the members' first occurrence, after the preferred ones. A column that is empty in every row is left out.
struct Table {
    /// The minimum width of a shortened text column, unless its title is wider.
    private static let narrowestColumn = 8
    /// The minimum width of the first column, which identifies the row.
    private static let narrowestFirst = 12
    private static let gap = 2

    private let keys: [String]
    private let rows: [[String]]
    /// For each column, whether it contains only numbers.
    private let isNumeric: [Bool]

    init(_ objects: [JSON], first preferred: [String]) {
        var seen = Set<String>()
        let all = (preferred + objects.flatMap { $0.objectValue?.keys ?? [] }).filter { seen.insert($0).inserted }
        let keys = all.filter { key in objects.contains { !Cell.isEmpty($0[key]) } }
        self.keys = keys
        isNumeric = keys.map { key in
            objects.allSatisfy { object in
                switch object[key] {
                case nil, .null, .number: true
                default: false
                }
            }
        }
        rows = objects.map { object in keys.map { Cell.text(object[$0], key: $0) } }
    }

    /// Returns the table with its heading, each line indented; empty if there are no rows.
    ///
    /// - Parameter columns: The maximum width of a line; `nil` for no limit. Text columns are shortened first,
    ///   beginning with the widest; then the last columns are left out. A number is never shortened.
    func text(bold: Bool, indent: String = "", columns: Int? = nil) -> String {
        guard !rows.isEmpty else { return "" }
        let heading = keys.map { PlainText.line(Cell.title($0)) }
        let room = columns.map { max(0, $0 - PlainText.width(indent)) }
        let widths = fitted(heading, into: room)
        var result = line(heading, widths, room, indent, style: bold ? ("\u{1B}[1m", "\u{1B}[0m") : ("", ""))
        for row in rows { result += line(row, widths, room, indent, style: ("", "")) }
        return result
    }

    /// Returns the widths of the columns that are shown.
    private func fitted(_ heading: [String], into room: Int?) -> [Int] {
        let natural = keys.indices.map { column in
            ([heading] + rows).map { PlainText.width($0[column]) }.max() ?? 0
        }
        guard let room else { return natural }
        let minimum = keys.indices.map { column in
            if isNumeric[column] { return natural[column] }
            let narrowest = column == 0 ? Self.narrowestFirst : Self.narrowestColumn
            return min(natural[column], max(narrowest, PlainText.width(heading[column])))
        }
        var count = natural.count
        while count > 1, minimum.prefix(count).reduce(0, +) + Self.gap * (count - 1) > room { count -= 1 }
        var widths = Array(natural.prefix(count))
        var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - room
        while excess > 0 {
            let widest = widths.indices.filter { widths[$0] > minimum[$0] }.max { widths[$0] < widths[$1] }
            guard let widest else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(
        _ cells: [String], _ widths: [Int], _ room: Int?, _ indent: String, style: (start: String, end: String)
    ) -> String {
        let padded = widths.indices.map { column in
            let cell = PlainText.cut(cells[column], to: widths[column])
            return isNumeric[column]
                ? PlainText.padded(before: cell, to: widths[column]) : PlainText.padded(cell, to: widths[column])
        }
        .joined(separator: String(repeating: " ", count: Self.gap))
        let end = padded.lastIndex { $0 != " " }.map { padded.index(after: $0) } ?? padded.startIndex
        let shown = String(padded[..<end])
        return indent + style.start + (room.map { cut(shown, to: $0) } ?? shown) + style.end + "\n"
    }

    /// Shortens a line that is still too long because of its only column.
    private func cut(_ line: String, to room: Int) -> String {
        let isNumber = isNumeric.first == true && PlainText.width(line) > room
        return isNumber ? "…" : PlainText.cut(line, to: room)
    }
}

/// A value in a table or a report. The end of its member's name specifies the meaning of a number: a unit for a
/// duration, `Bytes` for a size, `At` for a point in time.
enum Cell {
    static func isEmpty(_ value: JSON?) -> Bool {
        switch value {
        case nil, .null: true
        case .array(let elements): elements.isEmpty
        case .object(let object): object.isEmpty
        case .string(let text): text.isEmpty
        default: false
        }
    }

    /// Returns the name without its unit: "loopLagUs" becomes "loopLag", "in/s Bytes" becomes "in/s".
    static func title(_ key: String) -> String {
        if key.hasSuffix(" Bytes") { return String(key.dropLast(6)) }
        return unit(of: key) == nil ? key : String(key.dropLast(2))
    }

    static func text(_ value: JSON?, key: String) -> String {
        switch value {
        case nil, .null: return "-"
        case .bool(let value): return value ? "yes" : "no"
        case .string(let text): return PlainText.line(text)
        case .number(let number):
            guard let count = number.int64 else { return number.text }
            if let unit = unit(of: key) { return HumanDuration.text(unit(count)) }
            if key.hasSuffix("Bytes") { return HumanBytes.text(count) }
            return key.hasSuffix("At") ? moment(count) ?? number.text : number.text
        case .array(let elements):
            return elements.isEmpty ? "-" : elements.map { text($0, key: "") }.joined(separator: ", ")
        case .object: return PlainText.line(value?.text ?? "")
        }
    }

    /// Formats milliseconds since 1970 as local time.
    private static func moment(_ milliseconds: Int64) -> String? {
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress, strftime(start, buffer.count, "%Y-%m-%d %H:%M:%S", &parts) > 0 else {
                return nil
            }
            return String(cString: start)
        }
    }

    private static func unit(of key: String) -> ((Int64) -> Duration)? {
        switch key.suffix(2) {
        case _ where key.count < 3: nil
        case "Ms": { .milliseconds($0) }
        case "Us": { .microseconds($0) }
        case "Ns": { .nanoseconds($0) }
        default: nil
        }
    }
}
