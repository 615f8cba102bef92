// Problems of a configuration, as lines that say what is wrong and what to do.
import TOMLDocument

/// A problem with its location.
struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file, or the flag (`--socket`).
    var source: String
    /// The position in the file; `nil` for a flag and for the file as a whole.
    var position: TOMLPosition?
    /// The setting, such as `plugins.alert.presenters[1]`; `nil` if the problem does not concern one setting.
    var key: String?
    /// The problem and the expected value, as one line of text.
    var reason: String

    /// `file:line:column: key: reason`.
    var description: String {
        let location = position.map { "\(source):\($0)" } ?? source
        return key.map { "\(location): \($0): \(reason)" } ?? "\(location): \(reason)"
    }
}

extension ConfigurationProblem {
    init(_ error: TOMLError) {
        self.init(source: error.file, position: error.position, key: nil, reason: error.reason)
    }
}

/// All problems of a configuration: file by file, in the order of their positions. Never empty.
struct ConfigurationErrors: Error, Sendable, Hashable, CustomStringConvertible {
    let problems: [ConfigurationProblem]

    init(problems: [ConfigurationProblem]) {
        var sources: [String: Int] = [:]
        for problem in problems where sources[problem.source] == nil { sources[problem.source] = sources.count }
        let placed = problems.enumerated().map { index, problem in
            let position = problem.position
            return (
                problem: problem,
                order: [sources[problem.source] ?? 0, position?.line ?? 0, position?.column ?? 0, index]
            )
        }
        self.problems = placed.sorted { $0.order.lexicographicallyPrecedes($1.order) }.map(\.problem)
    }

    /// One line for each problem.
    var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
