// mock: answers calls from a file. For testing a client without the real tasks.
import Foundation
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
public func makeMock() -> Plugin {
    let answers = Answers()
    return Plugin("mock", version: "1.0.0")
        .configuration(
            PluginConfiguration(Answers.Section()), describing: Answers.Section.settings,
            onChange: { section in answers.take(section) }
        )
        .onStart { context in try await answers.read(in: context) }
        .interceptor(Mock(answers: answers))
}

struct Mock: Interceptor {
    static let name = "mock.answers"
    static let summary = "Answers calls from a file."

    let answers: Answers
    var tasks: [String] { answers.tasks }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        guard let answer = answers.answer(to: call.task, try call.options) else { return .pass }
        if let error = answer.error { throw BridgeError(json: error) ?? BridgeError(.internal, "no error: \(error)") }
        return .answer(answer.result ?? .null)
    }
}

/// The answers in the file.
final class Answers: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The absolute path of the file; `nil` for no mocking.
        var file: String?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "file": ["description": "A JSON file with the answers, by the names of tasks."]
        ]
    }

    /// One answer. If several match a call, the first is used.
    struct Answer: Codable, Sendable {
        /// The options that it matches; `nil` for any.
        var options: JSON?
        /// The result; `nil` for the error.
        var result: JSON?
        var error: JSON?
    }

    private let file = Mutex<String?>(nil)
    private let known = Mutex<[String: [Answer]]>([:])

    func take(_ section: Section) { file.withLock { $0 = section.file } }

    func read(in context: PluginContext) async throws {
        guard let path = file.withLock({ $0 }) else { return }
        let answers = try await context.blocking {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return try JSONCoding.decode([String: [Answer]].self, from: JSON(parsing: text))
        }
        known.withLock { $0 = answers }
        context.log.notice("Answers of \(answers.count) tasks come from \(path).")
    }

    var tasks: [String] { known.withLock { $0 }.keys.sorted() }

    func answer(to task: String, _ options: JSON) -> Answer? {
        known.withLock { $0[task] }?.first { $0.options ?? options == options }
    }
}
