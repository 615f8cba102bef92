import ArgumentParser
import BridgeJSON

/// Which tasks are picked out: names, or beginnings of names with `*` behind.
struct TaskChoice {
    /// Empty: all tasks.
    var patterns: [String]

    /// - Throws: ``UsageFailure`` where a pattern fits no task.
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

/// Where two texts begin to differ.
enum GeneratedDifference {
    /// The number of the first line that is not the same, from 1; nil: there is none.
    static func firstLine(of left: [UInt8], against right: [UInt8]) -> Int? {
        guard left != right else { return nil }
        let same = zip(left, right).prefix { $0 == $1 }
        return 1 + same.count { $0.0 == UInt8(ascii: "\n") }
    }
}
