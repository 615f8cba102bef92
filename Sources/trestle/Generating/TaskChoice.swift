import ArgumentParser
import BridgeJSON

/// The choice of tasks: names, or prefixes of names followed by `*`.
struct TaskChoice {
    /// The patterns; empty for all tasks.
    var patterns: [String]

    /// Returns the chosen tasks.
    ///
    /// - Throws: ``UsageFailure`` if a pattern matches no task.
    func choose(from descriptions: [JSON]) throws -> [JSON] {
        if patterns.isEmpty { return descriptions }
        for pattern in patterns where !descriptions.contains(where: { Self.fits(pattern, $0) }) {
            throw UsageFailure("no task of this daemon is called \(pattern); trestle tasks lists them")
        }
        return descriptions.filter { description in patterns.contains { Self.fits($0, description) } }
    }

    private static func fits(_ pattern: String, _ description: JSON) -> Bool {
        let name = description["name"]?.stringValue ?? ""
        return pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
}

/// The difference between two texts.
enum GeneratedDifference {
    /// Returns the number of the first different line, from 1; `nil` if the texts are equal.
    static func firstLine(of left: [UInt8], against right: [UInt8]) -> Int? {
        guard left != right else { return nil }
        let same = zip(left, right).prefix { $0 == $1 }
        return 1 + same.count { $0.0 == UInt8(ascii: "\n") }
    }
}
