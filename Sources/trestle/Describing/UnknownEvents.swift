import BridgeClient
import BridgeJSON

/// Event names that no plugin declares but that resemble a declared one. They need not be mistakes: any client may
/// publish events of any name.
enum UnknownEvents {
    private static let timeout = Timeout.seconds(5)

    /// Reports them on standard error, each with the probably intended name. Reports nothing if the daemon does not
    /// answer.
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
