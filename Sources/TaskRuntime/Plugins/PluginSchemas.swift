import BridgeJSON
import DequeModule
import Logging

/// The JSON Schemas that a plugin's manifest leaves out. The plugin is asked for them once, when they are first wanted:
/// to derive them takes longer than all else that a plugin does when it is loaded. Loop thread only.
final class PluginSchemas {
    /// The manifest with the schemas in it; nil: the plugin has not reported them yet.
    fileprivate var manifest: PluginManifest?
    /// Those that wait for the plugin's answer, the oldest first: as many as there are calls that name no parameters.
    fileprivate var waiting: Deque<(PluginManifest) -> Void> = []
    /// What they get, once the plugin has answered, or failed to.
    fileprivate var answer: PluginManifest?

    /// How long a plugin may take to answer. Then what its manifest says has to do, until they are wanted again.
    fileprivate static let timeout = Duration.seconds(10)

    /// What a plugin answers; see `trestle_plugin.h`.
    fileprivate struct Answer: Decodable {
        struct Task: Decodable {
            var options: JSON?
            var result: JSON?
            var progress: JSON?
        }
        var tasks: [Task]?
        var configuration: JSON?
        var errors: [String]?

        /// Any thread.
        static func read(_ text: [UInt8]) -> Result<Answer, JSONMismatch> {
            Result { () throws(JSONMismatch) in try JSONCoding.decode(Answer.self, text: text) }
        }
    }
}

extension PluginInstance {
    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void) {
        describe { done($0.tasks[task.index].schemas) }
    }

    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts {
        SchemaTexts((schemas.manifest ?? manifest).tasks[task.index].schemas)
    }

    /// Whether the plugin has reported its schemas.
    var hasDescribedItself: Bool { schemas.manifest != nil }

    /// Passes on the manifest with all schemas that are to be had, immediately or later.
    public func describe(_ done: @escaping (PluginManifest) -> Void) {
        if let manifest = schemas.manifest, schemas.waiting.isEmpty { return done(manifest) }
        schemas.waiting.append(done)
        guard schemas.waiting.count == 1, schemas.answer == nil else { return }
        perform(
            .describe, options: [:], timeout: PluginSchemas.timeout, reading: PluginSchemas.Answer.read
        ) { [self] answer in
            schemas.answer = completed(by: answer)
            continueWork()
        }
    }

    /// Whether some that have waited for schemas get them now.
    var hasSchemasToReport: Bool { schemas.answer != nil }

    /// Passes the schemas on to the next that has waited for them; false: there is none.
    func reportSchemas() -> Bool {
        guard let answer = schemas.answer else { return false }
        guard let done = schemas.waiting.popFirst() else {
            schemas.answer = nil
            return false
        }
        done(answer)
        return true
    }

    private func completed(
        by answer: Result<Result<PluginSchemas.Answer, JSONMismatch>, BridgeError>
    ) -> PluginManifest {
        var manifest = manifest
        do {
            let answer = try answer.get().get()
            for (index, task) in (answer.tasks ?? []).prefix(manifest.tasks.count).enumerated() {
                manifest.tasks[index].schemas.complete(
                    by: TaskSchemas(options: task.options, result: task.result, progress: task.progress))
            }
            manifest.configuration = manifest.configuration ?? answer.configuration
            for error in answer.errors ?? [] { calls.log.warning("\(providerName): \(error)") }
            schemas.manifest = manifest
        } catch {
            calls.log.warning("\(providerName) does not describe itself: \(error)")
        }
        return manifest
    }
}

extension TaskSchemas {
    /// What is known stands.
    fileprivate mutating func complete(by other: TaskSchemas) {
        options = options ?? other.options
        result = result ?? other.result
        progress = progress ?? other.progress
    }
}
