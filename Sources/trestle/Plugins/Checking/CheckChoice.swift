import ArgumentParser
import BridgeJSON

/// The tasks of a plugin that may be called, and their options. Because a call may have any effect, only requested
/// calls are made, and calls that the task's schema refuses.
struct CheckChoice: Sendable, Equatable {
    /// Options by task; `nil` for options made from the schema.
    private(set) var calls: [String: JSON?] = [:]
    /// Whether every task may be called.
    var all = false

    /// - Parameter arguments: `TASK`, `TASK=JSON` or `TASK=@FILE`.
    /// - Throws: A message for the user about an invalid argument.
    init(_ arguments: [String], all: Bool = false, read: (String) throws -> [UInt8] = { try InputFile($0).contents() })
        throws
    {
        self.all = all
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                calls[parts[0]] = .some(nil)
                continue
            }
            let isFile = parts[1].hasPrefix("@")
            let text = isFile ? String(decoding: try read(String(parts[1].dropFirst())), as: UTF8.self) : parts[1]
            do {
                calls[parts[0]] = .some(try JSON(parsing: text))
            } catch {
                throw ValidationError(
                    "the options for \(parts[0]) are not valid JSON (\(error)): write --call '\(parts[0])={\"key\": "
                        + "\"value\"}'."
                )
            }
        }
    }

    /// The options of a task's calls.
    enum Options: Equatable {
        case these(JSON)
        /// Options made from its schema.
        case sample
        /// No calls are made.
        case none
    }

    func options(for task: String) -> Options {
        guard let given = calls[task] else { return all ? .sample : .none }
        return given.map(Options.these) ?? .sample
    }

    /// Returns the named tasks that the plugin does not have.
    func unknown(among tasks: [String]) -> [String] { calls.keys.filter { !tasks.contains($0) }.sorted() }
}
