/// Writes OpenMetrics text: families of samples, each with a type, a unit and a help sentence.
///
/// The text is also valid in the older text format of Prometheus, as far as both formats agree: it contains no types
/// that the older format lacks, and no timestamps.
struct OpenMetricsText {
    /// The type of a family's samples.
    enum Kind: String {
        /// Rises and falls.
        case gauge
        /// Only rises, from 0 at the start of the daemon. The name of its sample ends in `_total`.
        case counter
        /// Counts by upper bound.
        case histogram
    }

    private(set) var text = ""
    private var families: Set<String> = []
    private var family = ""
    private var kind = Kind.gauge

    /// Returns the complete text.
    consuming func finished() -> String { text + "# EOF\n" }

    /// A family of samples. Its name ends with its unit if it has one.
    struct Family {
        let name: String
        let kind: Kind
        let unit: String?
        let help: String

        init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
            self.name = unit.map { name + "_" + $0 } ?? name
            (self.kind, self.unit, self.help) = (kind, unit, help)
        }
    }

    /// The current length of the text.
    var byteCount: Int { text.utf8.count }

    /// Returns the text without its end mark; the next page continues it.
    consuming func unfinished() -> String { text }

    /// Begins a family.
    ///
    /// - Returns: Whether the name was not in use. The caller omits the samples of a family whose name is in use.
    @discardableResult
    mutating func begin(_ family: Family) -> Bool {
        guard resume(family) else { return false }
        text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
        if let unit = family.unit { text += "# UNIT \(family.name) \(unit)\n" }
        text += "# HELP \(family.name) \(Self.escaped(family.help))\n"
        return true
    }

    /// Continues a family that was begun in an earlier page.
    @discardableResult
    mutating func resume(_ family: Family) -> Bool {
        guard families.insert(family.name).inserted else { return false }
        (self.family, kind) = (family.name, family.kind)
        return true
    }

    /// Begins a family.
    @discardableResult
    mutating func begin(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) -> Bool {
        begin(Family(name, kind, unit: unit, help))
    }

    /// Writes a sample of the family that was begun last.
    mutating func add(_ value: Value, _ labels: KeyValuePairs<String, String> = [:], suffix: String? = nil) {
        text += family + (suffix ?? (kind == .counter ? "_total" : ""))
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                text += "\(index > 0 ? "," : "")\(label.key)=\"\(Self.escaped(label.value))\""
            }
            text += "}"
        }
        text += " \(value.text)\n"
    }

    /// Writes a family of one sample.
    mutating func add(_ name: String, _ kind: Kind, unit: String? = nil, _ value: Value, _ help: String) {
        if begin(name, kind, unit: unit, help) { add(value) }
    }

    /// The value of a sample.
    struct Value {
        let text: String

        init(_ value: some BinaryInteger) { text = String(value) }

        init(_ value: Double) {
            if let whole = Int64(exactly: value) {
                text = String(whole)
            } else {
                text = value.isNaN ? "NaN" : value.isFinite ? value.description : value > 0 ? "+Inf" : "-Inf"
            }
        }

        init(_ value: Duration) { self.init(Double(value.wholeNanoseconds) / 1e9) }
    }

    /// Escapes backslashes, quotes and line ends, for label values and help sentences.
    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the text as a part of a name: bytes that are neither letter nor digit become `_`.
    static func nameable(_ text: String) -> String {
        String(
            decoding: text.utf8.map { byte in
                let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                return isLetter || isDigit ? byte : UInt8(ascii: "_")
            }, as: UTF8.self)
    }
}
