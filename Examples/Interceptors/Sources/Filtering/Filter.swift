// filter: refuses calls by rule.
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
public func makeFilter() -> Plugin {
    let rules = Rules()
    return Plugin("filter", version: "1.0.0")
        .configuration(
            PluginConfiguration(Rules.Section()), describing: Rules.Section.settings, reloadable: true,
            check: { section in try section.check() }, onChange: { section in rules.take(section) }
        )
        .interceptor(Filter(rules: rules))
}

struct Filter: Interceptor {
    static let name = "filter.rules"
    static let summary = "Refuses calls that a rule forbids."

    let rules: Rules
    var tasks: [String] { rules.all.map(\.task) }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        if let rule = rules.all.first(where: { $0.forbids(call) }) {
            throw BridgeError("filter.refused", rule.reason ?? "The operator does not allow this.")
        }
        return .pass
    }
}

/// The rules by which calls are refused.
final class Rules: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        var rules: [Rule]?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "rules": ["description": "Calls that fulfil all conditions of one of these are refused."]
        ]

        func check() throws {
            for (index, rule) in (rules ?? []).enumerated()
            where rule.task.isEmpty || rule.task.dropLast().contains("*") {
                throw BridgeError(
                    .configurationInvalid, "Rule \(index + 1) is for the task “\(rule.task)”.",
                    data: [
                        "path": .string("$.rules[\(index)].task"),
                        "expected": "a task's name, or a prefix of names followed by *",
                        "got": .string("\"\(rule.task)\""),
                    ])
            }
        }
    }

    /// A rule. An absent condition matches every call.
    struct Rule: Codable, Sendable {
        /// The task's name, or a prefix of names followed by `*`.
        var task: String
        /// The origin that the caller's session represents.
        var origin: String?
        /// The caller's user id.
        var uid: UInt32?
        /// The number of bytes of options that a call must exceed.
        var longerThan: Int?
        /// The message of the error that the caller gets.
        var reason: String?

        func forbids(_ call: InterceptedCall) -> Bool {
            matches(call.task) && origin ?? call.caller.origin == call.caller.origin
                && uid ?? call.caller.uid == call.caller.uid && call.rawOptions.count > longerThan ?? -1
        }

        private func matches(_ name: String) -> Bool {
            task.last == "*" ? name.hasPrefix(task.dropLast()) : name == task
        }
    }

    private let section = Mutex(Section())

    func take(_ new: Section) { section.withLock { $0 = new } }

    var all: [Rule] { section.withLock { $0.rules ?? [] } }
}
