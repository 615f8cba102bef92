/// A list of values in a text, with a maximum length.
struct NamedValues {
    /// The length in bytes after which no further value is added.
    private static let maximumBytes = 1_024
    private(set) var texts: [String] = []
    private var byteCount = 0

    var isFull: Bool { byteCount >= Self.maximumBytes }

    mutating func add(_ text: String) {
        texts.append(text)
        byteCount += text.utf8.count
    }
}

/// Describes in a few words what a schema expects, for a person.
struct SchemaWords {
    private let graph: SchemaGraph

    init(_ graph: SchemaGraph) { self.graph = graph }

    /// The maximum number of values that are named.
    private static let maximumNamed = 20
    /// The maximum length of a text of the schema, in Unicode scalars.
    private static let shownCount = 100

    /// - Parameter depth: The number of enclosing schemas that consist of others.
    func words(_ schemaIndex: SchemaIndex, depth: Int = 0) -> String {
        var kinds: SchemaKinds?
        var bounds = Bounds()
        for rule in graph.rules(of: schemaIndex) {
            switch rule {
            case .nothing: return "nothing"
            case .constants(let range): return words(constants: range)
            case .kinds(let named): kinds = named
            default: bounds.note(rule)
            }
        }
        guard let kinds else { return combined(schemaIndex, bounds, depth + 1) }
        let isNumber = !kinds.isDisjoint(with: [.integer, .number])
        return isNumber ? kinds.words + words(bounds) : kinds.words
    }

    func words(_ choice: SchemaRange, depth: Int = 0) -> String {
        var named = NamedValues()
        for schemaIndex in graph.schemas(choice).prefix(Self.maximumNamed) {
            if named.isFull { return named.texts.joined(separator: " or ") + " or …" }
            let words = words(schemaIndex, depth: depth)
            if !named.texts.contains(words) { named.add(words) }
        }
        return named.texts.joined(separator: " or ")
    }

    /// Returns a text of the schema, without what is beyond the maximum length.
    func shown(_ text: SchemaRange) -> String { Self.shown(graph.string(text)) }

    private static func shown(_ text: String) -> String {
        // Not in characters: one character may be as long as the whole text.
        let scalars = text.unicodeScalars
        let end = scalars.index(scalars.startIndex, offsetBy: shownCount, limitedBy: scalars.endIndex)
        guard let end, end != scalars.endIndex else { return text }
        return String(scalars[..<end]) + "…"
    }

    /// Returns the source of a pattern as JSON.
    func source(_ pattern: UInt32) -> String { JSON.string(shown(graph.patterns[Int(pattern)].source)).text }

    /// Describes a schema without a type of its own by the schemas that it consists of, which form no cycle.
    private func combined(_ schemaIndex: SchemaIndex, _ bounds: Bounds, _ depth: Int) -> String {
        // More detail helps few readers, and each level may be many times longer than the one above.
        if depth > 2 { return "a valid value" }
        for rule in graph.rules(of: schemaIndex) {
            switch rule {
            case .apply(let other), .dynamic(_, let other): return words(other, depth: depth)
            case .all(let range): return words(graph.schemaIndices[range.indices.lowerBound], depth: depth)
            case .any(let range), .one(let range): return words(range, depth: depth)
            case .members: return "an object"
            case .minimum, .exclusiveMinimum, .maximum, .exclusiveMaximum: return "a number" + words(bounds)
            case .multipleOf(let divisor): return "a multiple of \(shown(divisor))"
            case .pattern(let index): return "a string with the pattern \(source(index))"
            case .lengths(let counts): return "a string of \(Self.range(counts)) characters"
            case .not(let refused): return "anything but \(words(refused, depth: depth))"
            default: continue
            }
        }
        return "a valid value"
    }

    // MARK: Bounds

    /// The bounds of a number, each with whether the bound itself is allowed.
    private struct Bounds {
        var minimum: (number: SchemaRange, isIncluded: Bool)?
        var maximum: (number: SchemaRange, isIncluded: Bool)?

        mutating func note(_ rule: SchemaRule) {
            switch rule {
            case .minimum(let number): minimum = (number, true)
            case .exclusiveMinimum(let number): minimum = (number, false)
            case .maximum(let number): maximum = (number, true)
            case .exclusiveMaximum(let number): maximum = (number, false)
            default: break
            }
        }
    }

    private func words(_ bounds: Bounds) -> String {
        switch (bounds.minimum, bounds.maximum) {
        case (let minimum?, let maximum?) where minimum.isIncluded && maximum.isIncluded:
            " from \(shown(minimum.number)) to \(shown(maximum.number))"
        case (let minimum, let maximum):
            [
                minimum.map { " \($0.isIncluded ? "of at least" : "above") \(shown($0.number))" },
                maximum.map { " \($0.isIncluded ? "of at most" : "below") \(shown($0.number))" },
            ].compactMap(\.self).joined(separator: " and")
        }
    }

    static func range(_ counts: SchemaCounts) -> String {
        if counts.maximum == .max { return "at least \(counts.minimum)" }
        if counts.minimum == 0 { return "at most \(counts.maximum)" }
        return counts.minimum == counts.maximum ? "\(counts.minimum)" : "\(counts.minimum) to \(counts.maximum)"
    }

    // MARK: Constants

    /// Lists the constants in the order of the schema, which is that of their texts.
    private func words(constants range: SchemaRange) -> String {
        let texts = firstTexts(range).map { graph.string($0) }
        if texts.count <= 1 { return texts.first.map(Self.shown) ?? "nothing" }
        var named = NamedValues()
        for text in texts where !named.isFull {
            named.add(Self.shown((try? JSON(parsing: text))?.stringValue ?? text))
        }
        return "one of: " + named.texts.joined(separator: ", ") + (range.count > named.texts.count ? ", …" : "")
    }

    /// Returns the texts that come first in the schema. Uses one pass: there may be thousands, and several schemas may
    /// refer to them.
    private func firstTexts(_ range: SchemaRange) -> [SchemaRange] {
        var first: [SchemaRange] = []
        for constant in graph.constants[range.indices] {
            let text = constant.text
            if first.count == Self.maximumNamed {
                if text.start > first[Self.maximumNamed - 1].start { continue }
                first.removeLast()
            }
            first.insert(text, at: first.firstIndex { $0.start > text.start } ?? first.count)
        }
        return first
    }
}
