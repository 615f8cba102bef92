internal import OfflinePackages
internal import TOMLDocument

/// A type of setting values, which converts them from and to TOML.
struct ProfileValue<Value: Sendable>: Sendable {
    /// The form of the values, for messages.
    let expected: String
    /// Reads a value; `nil` if it is not of this type.
    let read: @Sendable (TOMLValue) -> Value?
    /// Writes a value; `nil` if there is none.
    let write: @Sendable (Value) -> String?

    /// A list of values.
    static func list<Item>(of item: ProfileValue<Item>) -> ProfileValue where Value == [Item] {
        ProfileValue(
            expected: "a list, each \(item.expected)",
            read: { value in
                guard let items = value.array else { return nil }
                let values = items.compactMap(item.read)
                return values.count == items.count ? values : nil
            },
            write: { "[\($0.compactMap(item.write).joined(separator: ", "))]" })
    }

    /// A value for an optional member.
    static func some<Item>(_ item: ProfileValue<Item>) -> ProfileValue where Value == Item? {
        ProfileValue(
            expected: item.expected, read: { item.read($0).map { .some($0) } }, write: { $0.flatMap(item.write) })
    }

    /// Reads a member of a table; returns false if the value is not of this type.
    static func read<Member>(
        _ value: TOMLValue, _ type: ProfileValue<Member>, _ member: inout Member
    ) -> Bool {
        guard let converted = type.read(value) else { return false }
        member = converted
        return true
    }

    /// Returns a text in TOML quotes.
    fileprivate static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

extension ProfileValue where Value == String {
    /// A scheme of a profile's own.
    static var scheme: ProfileValue {
        ProfileValue(
            expected: "a scheme of a program's own, in lower case, such as \"notes\"",
            read: { $0.string.flatMap { DesktopEntry.isScheme($0) ? $0 : nil } }, write: { quoted($0) })
    }

    /// A text that is not empty.
    static var text: ProfileValue {
        ProfileValue(
            expected: "a text", read: { $0.string.flatMap { $0.isEmpty ? nil : $0 } }, write: { quoted($0) })
    }
}

extension ProfileValue where Value == String? {
    /// An optional text.
    static var optionalText: ProfileValue {
        ProfileValue(
            expected: "a text", read: { $0.string.flatMap { $0.isEmpty ? nil : .some($0) } },
            write: { $0.map { quoted($0) } })
    }
}

extension ProfileValue where Value == PageOrigin {
    /// An origin.
    static var origin: ProfileValue {
        ProfileValue(
            expected: "an origin such as https://notes.example, without a path",
            read: { $0.string.flatMap { try? PageOrigin($0) } }, write: { quoted($0.text) })
    }
}

extension ProfileValue where Value == ResponsePattern {
    /// A pattern of responses by type or status.
    static var responsePattern: ProfileValue {
        ProfileValue(
            expected: """
                a content type such as "application/pdf" or "video/*", or a status such as "404" or "5xx"
                """,
            read: { $0.string.flatMap { ResponsePattern($0) } }, write: { quoted($0.description) })
    }
}

extension ProfileValue where Value == PageExport {
    /// An object or a function for pages.
    static var pageExport: ProfileValue {
        ProfileValue(
            expected: "a table with a name, and with a task, or methods and their tasks",
            read: { $0.table.flatMap { export($0) } }, write: { _ in nil })
    }

    private static func export(_ table: TOMLTable) -> PageExport? {
        var export = PageExport(name: "", task: nil, methods: [])
        for entry in table.entries {
            switch entry.key {
            case "name": export.name = entry.value.string ?? ""
            case "task":
                guard let task = entry.value.string, !task.isEmpty else { return nil }
                export.task = task
            case "methods":
                for method in entry.value.table?.entries ?? [] {
                    guard PageExport.isName(method.key), let task = method.value.string, !task.isEmpty else {
                        return nil
                    }
                    export.methods.append(PageExport.Method(name: method.key, task: task))
                }
            default: return nil
            }
        }
        return PageExport.isName(export.name) && (export.task != nil || !export.methods.isEmpty) ? export : nil
    }
}

extension ProfileValue where Value == PackageKey {
    /// A public key of packages.
    static var packageKey: ProfileValue {
        ProfileValue(
            expected: "a public key, as trestle package key writes it to NAME.key.pub",
            read: { $0.string.flatMap { PackageKey($0) } }, write: { quoted($0.description) })
    }
}

extension ProfileValue where Value == Bool {
    /// True or false.
    static var truth: ProfileValue {
        ProfileValue(expected: "true or false", read: \.boolean, write: { $0 ? "true" : "false" })
    }
}

extension ProfileValue where Value == Int {
    /// A whole number.
    static func count(in range: ClosedRange<Int>) -> ProfileValue {
        ProfileValue(
            expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { $0.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil } },
            write: { String($0) })
    }
}

extension ProfileValue where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// A raw value of an enumeration.
    static var choice: ProfileValue {
        ProfileValue(
            expected: "one of \(Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))",
            read: { $0.string.flatMap(Value.init) }, write: { quoted($0.rawValue) })
    }
}

extension ProfileValue where Value == Profile.Size {
    /// A width and a height.
    static var size: ProfileValue {
        ProfileValue(
            expected: "a width and a height from 1 to 16384, such as \"1280x720\"",
            read: { $0.string.flatMap { Profile.Size($0) } }, write: { quoted("\($0.width)x\($0.height)") })
    }
}

extension Profile.Size {
    /// Parses a size such as `1280x720`; `nil` if the text is not valid.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (1...16_384).contains(width),
            (1...16_384).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }
}

extension ProfileValue where Value == Duration {
    /// A time from one millisecond to a day, with its unit.
    static var duration: ProfileValue {
        ProfileValue(
            expected: "a time with its unit, ms, s, m or h, such as \"8s\"",
            read: { $0.string.flatMap { duration($0) } }, write: { quoted(text($0)) })
    }

    private static let units: [(name: String, milliseconds: Int)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000),
    ]

    private static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(digits.count)
        guard let count = Int(digits), count > 0, let unit = units.first(where: { $0.name == name }),
            case let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds), !overflow,
            milliseconds <= 86_400_000
        else { return nil }
        return .milliseconds(milliseconds)
    }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
        let unit = units.last { milliseconds.isMultiple(of: $0.milliseconds) } ?? units[0]
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
