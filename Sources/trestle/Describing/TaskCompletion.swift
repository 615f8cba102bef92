import ArgumentParser
import BridgeClient
import BridgeJSON

/// Shell completions from the running daemon: names of tasks, keys of options, and their values if a schema lists them.
/// Empty if no daemon answers in time, because a shell must not wait. All words pass ``CompletionWord``.
enum TaskCompletion {
    private static let timeout = Duration.seconds(1)

    /// The names of the tasks.
    static let tasks = CompletionKind.custom { words, _, _ in
        let result = await answer(words) {
            try await $0.callPages("bridge.tasks", list: "tasks", timeout: .after(timeout))
        }
        return offered((result?["tasks"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
    }

    /// `key=` for the options of the task on the command line, and `key=value`.
    static let options = CompletionKind.custom { words, index, _ in
        guard let task = task(in: words, before: index) else { return [] }
        let description = await answer(words) {
            try await $0.callJSON("bridge.describe", ["task": .string(task)], timeout: timeout)
        }
        return offered(candidates(description?["options"] ?? true))
    }

    private static func offered(_ words: [String]) -> [String] {
        CompletionWord.offered(words, isForZsh: CompletionShell.requesting == .zsh)
    }

    static func candidates(_ schema: JSON) -> [String] {
        (schema["properties"]?.objectValue ?? [:]).flatMap { key, member -> [String] in
            var values = member["enum"]?.arrayValue?.filter { $0 != .null } ?? []
            let types = member["type"]?.arrayValue ?? member["type"].map { [$0] } ?? []
            if types.contains("boolean") { values = [true, false] }
            return values.isEmpty ? ["\(key)="] : values.map { "\(key)=\($0.stringValue ?? $0.text)" }
        }
    }

    /// Returns the task's name: the first word after the command that is neither an option nor an option's value.
    static func task(in words: [String], before index: Int) -> String? {
        guard let command = words.firstIndex(of: "call") else { return nil }
        var isValue = false
        for (position, word) in words.enumerated().dropFirst(command + 1) where position < index {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                isValue = ["--timeout", "--session", "--socket", "--stream"].contains(word)
            } else {
                return word
            }
        }
        return nil
    }

    /// Returns the socket on the command line; `nil` if there is none.
    static func socket(in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == "--socket" { return words.dropFirst(index + 1).first }
            if word.hasPrefix("--socket=") { return String(word.dropFirst(9)) }
        }
        return nil
    }

    private static func answer(
        _ words: [String], _ ask: @escaping @Sendable (Bridge) async throws -> JSON
    ) async -> JSON? {
        let path = socket(in: words) ?? SocketLocation.current().path
        return await withTaskGroup(of: JSON?.self) { group in
            group.addTask {
                guard let client = try? await Bridge.connectOnce(to: path, as: "trestle completion") else {
                    return nil
                }
                let result = try? await ask(client)
                await client.close()
                return result
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
