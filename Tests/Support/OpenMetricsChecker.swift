/// A strict parser of OpenMetrics text, for the part that the daemon writes: gauges, counters and histograms, without
/// timestamps and exemplars.
public struct OpenMetrics {
    /// A line with a value.
    public struct Sample: Equatable {
        /// The name, with the suffix of the family's type.
        public var name: String
        /// The labels, without order.
        public var labels: [String: String]
        /// The value.
        public var value: Double
    }

    /// The samples of one name, and their description.
    public struct Family {
        /// The name, with the unit and without the suffix of the type.
        public var name: String
        /// `gauge`, `counter` or `histogram`.
        public var type: String
        /// The unit; `nil` if there is none.
        public var unit: String?
        /// The help text; `nil` if there is none.
        public var help: String?
        /// The samples, in their order.
        public var samples: [Sample] = []
    }

    /// The families, in their order.
    public private(set) var families: [Family] = []

    /// A mistake in a text, with its line.
    public struct Fault: Error, CustomStringConvertible {
        /// The description of the mistake.
        public var description: String
    }

    /// Parses a text.
    ///
    /// - Throws: ``Fault`` for the first violation of the specification.
    public init(_ text: String) throws {
        guard text.hasSuffix("# EOF\n") else { throw Fault(description: "the text does not end with # EOF") }
        let lines = text.dropLast("# EOF\n".count).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.last == "" || lines.isEmpty else { throw Fault(description: "the last line has no end") }
        for (index, line) in lines.dropLast().enumerated() {
            do {
                try take(line)
            } catch {
                throw Fault(description: "line \(index + 1), \(line): \(error)")
            }
        }
        for family in families { try Self.check(family) }
        try checkNames()
    }

    /// Returns the value of a series; `nil` if there is none.
    public func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }

    /// Returns the family with a name; `nil` if there is none.
    public func family(_ name: String) -> Family? { families.first { $0.name == name } }

    // MARK: Lines

    private mutating func take(_ line: Substring) throws {
        guard !line.contains("\r"), !line.isEmpty else {
            throw Fault(description: "an empty line, or a carriage return")
        }
        if line.hasPrefix("#") { try takeDescription(line) } else { try takeSample(line) }
    }

    private mutating func takeDescription(_ line: Substring) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 4, words[0] == "#" else { throw Fault(description: "neither a description nor a sample") }
        let (keyword, name, rest) = (words[1], words[2], words[3])
        guard Self.isName(name, colon: true) else { throw Fault(description: "\(name) is not a name") }
        // The descriptions of a family are consecutive and before its samples.
        if families.last?.name != name {
            guard !families.contains(where: { $0.name == name }) else {
                throw Fault(description: "\(name) stands in two places")
            }
            families.append(Family(name: name, type: ""))
        }
        var family = families.removeLast()
        guard family.samples.isEmpty else { throw Fault(description: "a description behind samples") }
        switch keyword {
        case "TYPE" where family.type.isEmpty:
            guard ["gauge", "counter", "histogram"].contains(rest) else { throw Fault(description: "no type: \(rest)") }
            family.type = rest
        case "UNIT" where family.unit == nil:
            guard Self.isName(rest, colon: false), name.hasSuffix("_" + rest) else {
                throw Fault(description: "the name does not end with the unit \(rest)")
            }
            family.unit = rest
        case "HELP" where family.help == nil: family.help = try Self.unescape(rest[...], quotes: true)
        default: throw Fault(description: "twice, or no keyword: \(keyword)")
        }
        families.append(family)
    }

    private mutating func takeSample(_ line: Substring) throws {
        let name = line.prefix { $0 != "{" && $0 != " " }
        guard Self.isName(String(name), colon: true) else { throw Fault(description: "\(name) is not a name") }
        var rest = line[name.endIndex...]
        let labels = rest.first == "{" ? try Self.takeLabels(&rest) : [:]
        guard rest.first == " " else { throw Fault(description: "no space in front of the value") }
        let sample = Sample(name: String(name), labels: labels, value: try Self.number(rest.dropFirst()))
        guard var family = families.popLast(), Self.suffixes(family.type).contains(where: { name == family.name + $0 })
        else { throw Fault(description: "the sample belongs to no family that was described before it") }
        guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == labels }) else {
            throw Fault(description: "the series occurs twice")
        }
        family.samples.append(sample)
        families.append(family)
    }

    private static func suffixes(_ type: String) -> [String] {
        switch type {
        case "gauge": [""]
        case "counter": ["_total"]
        case "histogram": ["_bucket", "_count", "_sum"]
        default: []
        }
    }

    private static func takeLabels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        repeat {
            rest.removeFirst()
            let name = rest.prefix { $0 != "=" }
            guard isName(String(name), colon: false), !name.hasPrefix("__") else {
                throw Fault(description: "\(name) is no label")
            }
            rest = rest[name.endIndex...].dropFirst()
            guard rest.popFirst() == "\"" else { throw Fault(description: "a label's value has no quotes") }
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                value.append(character)
                if character == "\\" { value.append(rest.popFirst() ?? "\"") }
            }
            guard labels.updateValue(try unescape(value[...], quotes: true), forKey: String(name)) == nil else {
                throw Fault(description: "the label \(name) occurs twice")
            }
        } while rest.first == ","
        guard rest.popFirst() == "}" else { throw Fault(description: "labels without an end") }
        return labels
    }

    private static func unescape(_ text: Substring, quotes: Bool) throws -> String {
        var (result, rest) = ("", text)
        while let character = rest.popFirst() {
            guard character == "\\" else {
                if character == "\"" { throw Fault(description: "a quote that is not escaped") }
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result += "\\"
            case "n": result += "\n"
            case "\"" where quotes: result += "\""
            default: throw Fault(description: "no such escape")
            }
        }
        return result
    }

    private static func number(_ text: Substring) throws -> Double {
        if text == "+Inf" { return .infinity }
        if text == "-Inf" { return -.infinity }
        if text == "NaN" { return .nan }
        guard let first = text.first, first == "-" || first.isNumber, let value = Double(text), value.isFinite else {
            throw Fault(description: "\(text) is not a number")
        }
        return value
    }

    private static func isName(_ text: String, colon: Bool) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
                || colon && byte == UInt8(ascii: ":")
        }
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    // MARK: Families

    private static func check(_ family: Family) throws {
        guard !family.type.isEmpty else { throw Fault(description: "\(family.name) has no type") }
        switch family.type {
        case "counter":
            guard !family.name.hasSuffix("_total"), family.samples.allSatisfy({ $0.value >= 0 }) else {
                throw Fault(description: "\(family.name) is no counter")
            }
        case "histogram": try checkHistogram(family)
        default: break
        }
    }

    /// Checks that the buckets of each series ascend in bound and count, and end with +Inf and the total count.
    private static func checkHistogram(_ family: Family) throws {
        let series = Dictionary(grouping: family.samples) { $0.labels.filter { $0.key != "le" } }
        for (labels, samples) in series {
            func fault(_ what: String) -> Fault { Fault(description: "\(family.name) \(labels): \(what)") }
            let buckets = samples.filter { $0.name.hasSuffix("_bucket") }
            let bounds = try buckets.map { try number(($0.labels["le"] ?? "")[...]) }
            guard bounds.last == .infinity, zip(bounds, bounds.dropFirst()).allSatisfy(<) else {
                throw fault("the bounds do not ascend to +Inf")
            }
            let counts = buckets.map(\.value)
            guard zip(counts, counts.dropFirst()).allSatisfy(<=), counts.allSatisfy({ $0 >= 0 }) else {
                throw fault("the counts do not ascend")
            }
            let count = samples.first { $0.name.hasSuffix("_count") }
            let sum = samples.first { $0.name.hasSuffix("_sum") }
            guard count?.value == counts.last, let sum, sum.value >= 0 else { throw fault("count and sum are wrong") }
        }
    }

    /// Checks that no sample of one family could belong to another.
    private func checkNames() throws {
        var taken: Set<String> = []
        for family in families {
            for suffix in Self.suffixes(family.type) where !taken.insert(family.name + suffix).inserted {
                throw Fault(description: "two families have samples named \(family.name + suffix)")
            }
        }
    }
}
