import BridgeJSON
import Glibc

/// A list of objects as an aligned table. Shows whatever the objects hold: columns appear in the order in which their
/// members first do, those named ahead; one that is empty in every row is left out.
struct Table {
    /// A cell shows at most so many columns, so that one long value does not push the others off the screen.
    private static let widestCell = 60

    private let keys: [String]
    private let rows: [[String]]

    init(_ objects: [JSON], first preferred: [String]) {
        var seen = Set<String>()
        let all = (preferred + objects.flatMap { $0.objectValue?.keys ?? [] }).filter { seen.insert($0).inserted }
        let keys = all.filter { key in objects.contains { !Cell.isEmpty($0[key]) } }
        self.keys = keys
        rows = objects.map { object in
            // The last one pushes nothing off.
            keys.map { PlainText.cut(Cell.text(object[$0], key: $0), to: $0 == keys.last ? .max : Self.widestCell) }
        }
    }

    /// The table with its heading, each line indented, empty where there are no rows.
    func text(bold: Bool, indent: String = "") -> String {
        guard !rows.isEmpty else { return "" }
        let heading = keys.map { PlainText.line(Cell.title($0)) }
        let widths = keys.indices.map { column in
            ([heading] + rows).map { PlainText.width($0[column]) }.max() ?? 0
        }
        var result = line(heading, widths, indent, style: bold ? ("\u{1B}[1m", "\u{1B}[0m") : ("", ""))
        for row in rows { result += line(row, widths, indent, style: ("", "")) }
        return result
    }

    private func line(
        _ cells: [String], _ widths: [Int], _ indent: String, style: (start: String, end: String)
    ) -> String {
        let padded = zip(cells, widths).map { PlainText.padded($0, to: $1) }.joined(separator: "  ")
        let end = padded.lastIndex { $0 != " " }.map { padded.index(after: $0) } ?? padded.startIndex
        return indent + style.start + padded[..<end] + style.end + "\n"
    }
}

/// One value in a table or a report. What a number means is told by the end of its member's name: a duration by its
/// unit, a size by `Bytes`, a moment by `At`.
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

    /// The name without its unit: "loopLagUs" is "loopLag", "in/s Bytes" is "in/s".
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

    /// Milliseconds since 1970 as local time.
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
