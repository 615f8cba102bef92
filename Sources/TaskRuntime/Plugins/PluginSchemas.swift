import BridgeJSON
import DequeModule
import Logging

/// The JSON Schemas that a plugin's manifest omits. The plugin is asked for them when they are first needed,
/// and again after a failure: deriving them takes longer than everything else that a plugin does when it is loaded.
/// Loop thread only.
final class PluginSchemas {
    /// The manifest completed with the schemas; `nil` if the plugin has not reported them yet.
    fileprivate var manifest: PluginManifest?
    /// The callbacks that wait for the plugin's answer, the oldest first: up to one for each call with positional
    /// parameters.
    fileprivate var waiting: Deque<(PluginManifest) -> Void> = []
    /// The manifest for these callbacks once the plugin has answered or failed.
    fileprivate var answer: PluginManifest?

    /// The time limit of an answer. After a failure the manifest is used as it is, until schemas are needed again.
    fileprivate static let timeout = Duration.seconds(10)

    /// A plugin's answer; see `trestle_plugin.h`.
    fileprivate struct Answer: Decodable {
        struct Task: Decodable {
            var options: JSON?
            var result: JSON?
            var progress: JSON?
        }
        var tasks: [Task]?
        var configuration: JSON?
        var errors: [String]?

        /// Decodes an answer. Any thread.
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

    /// Passes the manifest with all available schemas to `done`, immediately or later.
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

    /// Whether callbacks wait to receive the reported schemas.
    var hasSchemasToReport: Bool { schemas.answer != nil }

    /// Passes the schemas to the next waiting callback. Returns false if there is none.
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
            calls.log.warning("\(providerName) did not report its schemas: \(error)")
        }
        return manifest
    }
}

extension TaskSchemas {
    /// Fills in missing schemas; known ones stay.
    fileprivate mutating func complete(by other: TaskSchemas) {
        options = options ?? other.options
        result = result ?? other.result
        progress = progress ?? other.progress
    }
}
