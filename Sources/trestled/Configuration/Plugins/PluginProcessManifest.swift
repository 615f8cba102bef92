// NAME.plugin.toml: a plugin that is an executable.
import BridgeJSON
import PluginInterface
import TaskHosts
import TaskRuntime
import Glibc
import TOMLDocument

/// Reads a plugin process's manifest; docs/plugin-processes.md describes its contents.
enum PluginProcessManifest {
    /// The suffix of the file names.
    static let suffix = ".plugin.toml"

    private struct Text: Decodable {
        struct Task: Decodable {
            var name: String
            var summary: String
        }
        struct Limits: Decodable {
            var memory: String?
            var descriptors: UInt64?
            var processes: UInt64?
        }
        var command: [String]
        var version: String?
        var environment: [String: String]?
        struct Interceptor: Decodable {
            var name: String
            var summary: String
            var tasks: [String]
            var onFailure: InterceptorFailure?
        }
        var tasks: [Task]?
        var interceptors: [Interceptor]?
        var limits: Limits?
    }

    private static let keys = [
        "": ["command", "environment", "interceptors", "limits", "pool", "tasks", "version"],
        "interceptors": ["name", "onFailure", "summary", "tasks"],
        "limits": ["descriptors", "memory", "processes"],
        "tasks": [
            "concurrency", "name", "optionBytes", "optionPermissions", "options", "permission", "private", "progress",
            "public",
            "result",
            "summary", "timeout",
        ],
    ]

    /// Returns the command of the manifest at a path. Blocks.
    ///
    /// - Throws: `plugin.unavailable` with a sentence that contains the location of the problem.
    static func command(at path: String) throws(BridgeError) -> PluginProcessCommand {
        try check(path)
        let document: TOMLDocument
        do throws(TOMLError) { document = try TOMLDocument(contentsOf: path) } catch {
            throw refusal("\(error)")
        }
        return try command(of: document, at: path)
    }

    /// Returns the command of a parsed manifest. Blocks: checks the files that it names.
    static func command(of document: TOMLDocument, at path: String) throws(BridgeError) -> PluginProcessCommand {
        if let problem = unknownKey(document) { throw refusal("\(problem)") }
        let text: Text
        do { text = try JSONCoding.decode(Text.self, from: JSON(document.root)) } catch {
            throw refusal("\(problem(in: document, error))")
        }
        guard let program = text.command.first, !program.isEmpty else {
            throw refusal(
                "\(problem(in: document, JSONMismatch(path: "$.command", expected: "a program and its arguments", got: "none")))"
            )
        }
        let directory = folder(ofManifest: path)
        for file in files(of: text.command, in: directory) where isThere(file) { try check(file) }
        if let file = searched(program, text.environment?["PATH"]) { try check(file) }
        var manifest = JSON(document.root).objectValue ?? [:]
        let pool = try manifest["pool"].map { (json) throws(BridgeError) in
            do throws(JSONMismatch) { return try PluginPool.settings(json, path: "$.pool") } catch {
                throw refusal("\(problem(in: document, error))")
            }
        }
        for key in ["command", "environment", "limits", "pool"] { manifest[key] = nil }
        return PluginProcessCommand(
            path: path, name: name(of: path), arguments: text.command,
            environment: PythonPackage.added(to: text.environment ?? [:]),
            directory: directory, limits: try limits(text.limits, document), pool: pool,
            manifest: .object(manifest))
    }

    /// Returns the plugin's name: the file name without the suffix.
    static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return String(file.dropLast(suffix.count))
    }

    /// Returns the folder of the manifest, in which its command starts. For a link, this is the folder of the link's
    /// target, so that the process and its tracebacks use the paths of the original files.
    private static func folder(ofManifest path: String) -> String {
        guard let real = realpath(path, nil) else { return path.parentFolder }
        defer { free(real) }
        return String(cString: real).parentFolder
    }

    /// Returns the arguments of a command that may be files, as paths.
    static func files(of arguments: [String], in directory: String) -> [String] {
        arguments.filter { $0.contains("/") || $0.contains(".") }.map { part in
            if part.hasPrefix("/") { return part }
            return directory + "/" + (part.hasPrefix("./") ? String(part.dropFirst(2)) : part)
        }
    }

    /// Returns the path of a program that the process will find through PATH; `nil` if the program is a path itself or
    /// is in none of the directories.
    private static func searched(_ program: String, _ path: String?) -> String? {
        guard !program.contains("/"), let directories = path ?? getenv("PATH").map({ String(cString: $0) }) else {
            return nil
        }
        return directories.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    private static func limits(
        _ limits: Text.Limits?, _ document: TOMLDocument
    ) throws(BridgeError) -> PluginProcessCommand.Limits {
        guard let limits else { return PluginProcessCommand.Limits() }
        var memory: UInt64?
        if let text = limits.memory {
            guard let bytes = Quantity.bytes(text), bytes > 0 else {
                throw refusal(
                    "\(problem(in: document, JSONMismatch(path: "$.limits.memory", expected: "a size, such as \"256MiB\"", got: "\"\(text)\"")))"
                )
            }
            memory = UInt64(bytes)
        }
        return PluginProcessCommand.Limits(
            memoryBytes: memory, descriptors: limits.descriptors ?? 256, processes: limits.processes)
    }

    // MARK: Problems

    private static func check(_ path: String) throws(BridgeError) {
        do throws(PluginLoadError) { try PluginFile.check(path) } catch { throw refusal("\(path): \(error)") }
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func refusal(_ reason: String) -> BridgeError { BridgeError(.pluginUnavailable, reason) }

    private static func problem(in document: TOMLDocument, _ mismatch: JSONMismatch) -> ConfigurationProblem {
        var problem = PluginSection(root: document.root, file: document.file).problem(BridgeError(mismatch))
        problem.key = String(mismatch.path.dropFirst(2))
        return problem
    }

    private static func unknownKey(_ document: TOMLDocument) -> ConfigurationProblem? {
        unknownKey(document.root, "", document.file)
    }

    private static func unknownKey(_ table: TOMLTable, _ path: String, _ file: String) -> ConfigurationProblem? {
        guard let known = keys[path] else { return nil }
        for entry in table.entries {
            guard known.contains(entry.key) else {
                let hint = RenamedName.hint(for: entry.key) ?? Suggestion.hint(for: entry.key, among: known)
                return ConfigurationProblem(
                    source: file, position: entry.keyPosition, key: path.isEmpty ? entry.key : "\(path).\(entry.key)",
                    reason: "unknown key\(hint)")
            }
            guard path.isEmpty else { continue }
            let tables = entry.value.table.map { [$0] } ?? (entry.value.array ?? []).compactMap(\.table)
            for inner in tables {
                if let problem = unknownKey(inner, entry.key, file) { return problem }
            }
        }
        return nil
    }
}
