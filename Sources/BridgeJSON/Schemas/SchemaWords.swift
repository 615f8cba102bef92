/// What a rule expects, in a few words for a person.
struct SchemaWords {
    private let rules: [SchemaRule]

    init(_ rules: [SchemaRule]) { self.rules = rules }

    /// As many values are named.
    private static let mostNamed = 20

    /// - Parameter depth: of the rules around it that are made of others.
    func words(_ rule: SchemaRule, depth: Int = 0) -> String {
        if rule.fitsNothing { return "nothing" }
        if let values = rule.values { return Self.words(values) }
        guard let kinds = rule.kinds else { return combined(rule, depth + 1) }
        let isNumber = !kinds.isDisjoint(with: [.integer, .number])
        return isNumber ? kinds.words + bounds(rule) : kinds.words
    }

    func words(_ choice: [Int], depth: Int = 0) -> String {
        var named: [String] = []
        for words in choice.prefix(Self.mostNamed).map({ words(rules[$0], depth: depth) }) where !named.contains(words)
        { named.append(words) }
        return named.joined(separator: " or ")
    }

    /// Of a rule without a type of its own: those that it is made of, which are no circle.
    private func combined(_ rule: SchemaRule, _ depth: Int) -> String {
        // Few people want to read more, and each level may have many times as much to say as the one above.
        if depth > 2 { return "a fitting value" }
        if let first = rule.all.first { return words(rules[first], depth: depth) }
        if let choice = rule.any.first ?? rule.one.first { return words(choice, depth: depth) }
        if !rule.members.isEmpty { return "an object" }
        if rule.minimum != nil || rule.maximum != nil { return "a number" + bounds(rule) }
        return rule.none.first.map { "anything but \(words(rules[$0], depth: depth))" } ?? "a fitting value"
    }

    private func bounds(_ rule: SchemaRule) -> String {
        switch (rule.minimum, rule.maximum) {
        case (let minimum?, let maximum?) where minimum.isIncluded && maximum.isIncluded:
            " from \(minimum.number) to \(maximum.number)"
        case (let minimum, let maximum):
            [
                minimum.map { " \($0.isIncluded ? "of at least" : "above") \($0.number)" },
                maximum.map { " \($0.isIncluded ? "of at most" : "below") \($0.number)" },
            ].compactMap(\.self).joined(separator: " and")
        }
    }

    private static func words(_ values: [JSON]) -> String {
        let texts = values.prefix(mostNamed).map { $0.stringValue ?? $0.text }
        if values.count == 1 { return values[0].text }
        return "one of: " + texts.joined(separator: ", ") + (values.count > mostNamed ? ", …" : "")
    }

    static func range(_ range: ClosedRange<Int>) -> String {
        if range.upperBound == .max { return "at least \(range.lowerBound)" }
        if range.lowerBound == 0 { return "at most \(range.upperBound)" }
        return range.lowerBound == range.upperBound
            ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
