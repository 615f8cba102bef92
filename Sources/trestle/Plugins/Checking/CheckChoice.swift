import ArgumentParser
import BridgeJSON

/// Which tasks of a plugin may be called, and with what. A call may do anything: none is made that the user did not ask
/// for, except those that the task's schema refuses.
struct CheckChoice: Sendable, Equatable {
    /// Options by task; nil: to be made from the schema.
    private(set) var calls: [String: JSON?] = [:]
    /// Every task may be called.
    var all = false

    /// - Parameter arguments: `TASK`, `TASK=JSON` or `TASK=@FILE`.
    /// - Throws: what is wrong with one, for the user that typed it.
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
                    "the options for \(parts[0]) are no JSON (\(error)): write --call '\(parts[0])={\"key\": "
                        + "\"value\"}'."
                )
            }
        }
    }

    /// What a task is called with.
    enum Options: Equatable {
        case these(JSON)
        /// Made from its schema.
        case sample
        /// It is not called.
        case none
    }

    func options(for task: String) -> Options {
        guard let given = calls[task] else { return all ? .sample : .none }
        return given.map(Options.these) ?? .sample
    }

    /// Tasks that were named and that the plugin does not have.
    func unknown(among tasks: [String]) -> [String] { calls.keys.filter { !tasks.contains($0) }.sorted() }
}
