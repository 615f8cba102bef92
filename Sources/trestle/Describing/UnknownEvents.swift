import BridgeClient
import BridgeJSON

/// Names of events that no plugin declares, and that are near one that is declared. They are no mistake by themselves:
/// any client may publish an event of any name.
enum UnknownEvents {
    private static let timeout = Timeout.seconds(5)

    /// Mentions them on standard error, each with the name that was probably meant. Where the daemon does not answer,
    /// nothing is said.
    static func mention(in patterns: [String], _ client: Bridge) async {
        let names = patterns.filter { !$0.hasSuffix("*") }
        guard !names.isEmpty,
            let tasks = try? await client.callPages("bridge.describe", list: "tasks", timeout: timeout)["tasks"]
        else { return }
        for line in lines(names, declared: declared(by: tasks)) { News.note(line) }
    }

    static func lines(_ names: [String], declared: [String]) -> [String] {
        names.filter { !declared.contains($0) }.compactMap { name in
            let question = Suggestion.question(for: name, among: declared)
            return question.isEmpty ? nil : "no plugin declares the event \(name)\(question)"
        }
    }

    private static func declared(by tasks: JSON) -> [String] {
        var seen = Set<String>()
        return (tasks.arrayValue ?? []).flatMap { $0["events"]?.arrayValue ?? [] }
            .compactMap { $0["name"]?.stringValue }.filter { seen.insert($0).inserted }
    }
}
