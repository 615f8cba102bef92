// The types of settings: how each is parsed and written.
import BridgeJSON
import TOMLDocument

/// A type of settings: its form and the conversion between TOML and a Swift value.
struct SettingType<Value: Sendable>: Sendable {
    let shape: SettingShape
    /// Converts a TOML value.
    let read: @Sendable (TOMLValue) throws(SettingMismatches) -> Value
    /// Returns the value as TOML.
    let write: @Sendable (Value) -> String
}

extension SettingType {
    /// Creates a type of single values.
    ///
    /// - Parameters:
    ///   - shape: The form of the values.
    ///   - convert: Returns the value, or `nil` if it is invalid.
    ///   - advice: Returns the probably intended value as TOML for an invalid one.
    ///   - write: Returns the value as TOML.
    init(
        _ shape: SettingShape, convert: @escaping @Sendable (TOMLValue) -> Value?,
        advice: @escaping @Sendable (TOMLValue) -> String? = { _ in nil },
        write: @escaping @Sendable (Value) -> String
    ) {
        self.shape = shape
        self.write = write
        read = { value throws(SettingMismatches) in
            if let converted = convert(value) { return converted }
            let question = advice(value).map { "; did you mean \($0)?" } ?? ""
            let reason = "expected \(shape.expected); got \(TOMLText.named(value))\(question)"
            throw SettingMismatches(position: value.position, reason: reason)
        }
    }

    /// Returns the type of lists of these items. A single item counts as a list with one item.
    static func list<Item>(of item: SettingType<Item>) -> SettingType where Value == [Item] {
        SettingType(
            shape: .list(of: item.shape),
            read: { value throws(SettingMismatches) in
                guard let items = value.array else { return [try item.read(value)] }
                var values: [Item] = []
                var mismatches: [SettingMismatch] = []
                for (index, element) in items.enumerated() {
                    do throws(SettingMismatches) {
                        values.append(try item.read(element))
                    } catch {
                        mismatches += error.items.map {
                            SettingMismatch(position: $0.position, index: index, reason: $0.reason)
                        }
                    }
                }
                guard mismatches.isEmpty else { throw SettingMismatches(mismatches) }
                return values
            },
            write: { values in "[" + values.map(item.write).joined(separator: ", ") + "]" })
    }
}

extension SettingType where Value == String {
    /// A string that is not empty.
    static var text: SettingType {
        SettingType(.text, convert: { $0.string.flatMap { $0.isEmpty ? nil : $0 } }, write: TOMLText.quoted)
    }

    /// An absolute path.
    static var path: SettingType {
        SettingType(.path, convert: { $0.string.flatMap { $0.hasPrefix("/") ? $0 : nil } }, write: TOMLText.quoted)
    }
}

extension SettingType where Value == String {
    /// The scheme of a URL: a letter, then letters, digits, `+`, `-` and `.` (RFC 3986), in lower case.
    static var urlScheme: SettingType {
        SettingType(
            .urlScheme, convert: { $0.string.flatMap { isScheme($0) ? $0 : nil } },
            advice: { $0.string.map { $0.lowercased() }.flatMap { isScheme($0) ? TOMLText.quoted($0) : nil } },
            write: TOMLText.quoted)
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || ($0 &- UInt8(ascii: "0")) < 10 || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var choice: SettingType {
        let words = Value.allCases.map(\.rawValue)
        return SettingType(
            .choice(words), convert: { $0.string.flatMap(Value.init) },
            advice: { $0.string.flatMap { Suggestion.nearest(to: $0, among: words) }.map(TOMLText.quoted) },
            write: { TOMLText.quoted($0.rawValue) })
    }
}

extension SettingType where Value == UInt32 {
    /// Permission bits, as octal digits in a string.
    static var fileMode: SettingType {
        SettingType(
            .fileMode,
            convert: { value in
                guard let digits = value.string, (3...4).contains(digits.utf8.count) else { return nil }
                return digits.utf8.allSatisfy { isOctalDigit($0) } ? UInt32(digits, radix: 8).flatMap(checked) : nil
            },
            write: { text($0) })
    }

    private static func isOctalDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte)
    }

    private static func checked(_ mode: UInt32) -> UInt32? {
        mode <= 0o777 ? mode : nil
    }

    private static func text(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return "\"" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "\""
    }
}

extension SettingType where Value == Int {
    /// An integer with a unit, in a range.
    static func count(_ unit: String, in range: ClosedRange<Int>) -> SettingType {
        SettingType(
            .count(range, unit: unit), convert: { integer($0, in: range) },
            advice: { $0.string.flatMap { Int($0) }.flatMap { range.contains($0) ? String($0) : nil } },
            write: { String($0) })
    }

    /// A size in bytes, as a number or with a unit.
    static func bytes(in range: ClosedRange<Int>) -> SettingType {
        SettingType(
            .bytes(range),
            convert: { value in
                guard let text = value.string else { return integer(value, in: range) }
                return Quantity.bytes(text).flatMap { range.contains($0) ? $0 : nil }
            },
            advice: { $0.string.flatMap(Quantity.bytesMeant).flatMap { range.contains($0) ? quoted($0) : nil } },
            write: { quoted($0) })
    }

    private static func integer(_ value: TOMLValue, in range: ClosedRange<Int>) -> Int? {
        value.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    private static func quoted(_ bytes: Int) -> String {
        TOMLText.quoted(Quantity.text(bytes: bytes))
    }
}

extension SettingType where Value == Duration {
    /// A duration with its unit.
    static func duration(in range: ClosedRange<Duration>) -> SettingType {
        SettingType(
            .duration(range),
            convert: { $0.string.flatMap(Quantity.duration).flatMap { range.contains($0) ? $0 : nil } },
            advice: { value in
                let text = value.integer.map { String($0) } ?? value.string
                return text.flatMap(Quantity.durationMeant).flatMap { range.contains($0) ? quoted($0) : nil }
            },
            write: { quoted($0) })
    }

    private static func quoted(_ duration: Duration) -> String {
        TOMLText.quoted(Quantity.text(duration))
    }
}

extension SettingType where Value == Bool {
    /// True or false.
    static var truth: SettingType {
        SettingType(
            .truth, convert: \.boolean,
            advice: { value in
                let word = value.string?.lowercased()
                return ["true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"][
                    word ?? ""]
            },
            write: { $0 ? "true" : "false" })
    }
}
