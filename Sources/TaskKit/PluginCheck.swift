/// All defects of a plugin, in sentences for its author.
public struct PluginDefects: Error, Sendable, Hashable, CustomStringConvertible {
    /// The plugin's name.
    public var plugin: String
    /// The defects, one sentence each; at least one.
    public var sentences: [String]

    /// All defects in one line.
    public var description: String { "the plugin \(plugin) cannot be used: " + sentences.joined(separator: "; ") }
}

extension Plugin {
    /// Checks everything that can be checked without running the plugin: names, summaries, settings, patterns, and
    /// whether the JSON Schemas can be derived. Call it from a test of the plugin:
    ///
    ///     @Test func conforms() throws { try makePlugin().check() }
    ///
    /// - Throws: All defects found.
    public func check() throws(PluginDefects) {
        let sentences = parts.defects() + parts.schemas().defects
        if !sentences.isEmpty { throw PluginDefects(plugin: parts.name, sentences: sentences) }
    }
}

/// The rules for names. A name appears in URLs, command lines and configuration keys.
enum NameRule {
    /// The maximum length of the name of a task, event, launch worker or interceptor, in bytes. Such a name fits on one
    /// line of a log or a table.
    static let maximumBytes = 128

    /// The maximum length of a plugin's name, in bytes. The name is used for a directory, with room for a suffix.
    static let maximumPluginBytes = 64

    /// Returns whether a name consists of letters, digits, `-` and `_`, beginning with a letter.
    static func allowsPlugin(_ name: String) -> Bool {
        name.utf8.count <= maximumPluginBytes && startsWithLetter(name) && name.utf8.allSatisfy(isPartByte)
    }

    /// Returns whether a name consists of parts of letters, digits, `-` and `_`, joined by dots, beginning with a
    /// letter.
    static func allows(_ name: String) -> Bool {
        name.utf8.count <= maximumBytes && startsWithLetter(name)
            && name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0.allSatisfy(isPartByte) }
    }

    private static func startsWithLetter(_ name: String) -> Bool {
        name.utf8.first.map(isLetter) ?? false
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isPartByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }
}

extension PluginParts {
    /// Returns the defects, in sentences, except those of the schemas. Schemas are derived when a client requests them:
    /// that takes longer than everything else that a plugin does when it is loaded.
    func defects() -> [String] {
        var found: [String] = []
        if !NameRule.allowsPlugin(name) {
            found.append(
                "the plugin's name “\(name)” must be letters, digits, - and _, beginning with a letter, at most "
                    + "\(NameRule.maximumPluginBytes) bytes")
        }
        if version.isEmpty { found.append("the plugin's version is empty") }
        found += nameDefects("task", tasks.map(\.name))
        found += nameDefects("event", events.map(\.name))
        found += nameDefects("launch worker", launchWorkers.map(\.name))
        found += nameDefects("interceptor", interceptors.map(\.name))
        for task in tasks { found += task.defects() }
        for interceptor in interceptors {
            found += summaryDefects("interceptor \(interceptor.name)", interceptor.summary) + interceptor.defects()
        }
        for event in events { found += summaryDefects("event \(event.name)", event.summary) }
        found += launchDefects()
        if configurations.count > 1 { found.append("the plugin has more than one configuration") }
        if handovers.count > 1 { found.append("the plugin has more than one handover of sessions") }
        return found
    }

    /// Returns the answer to `describe` for tasks and configuration, as `trestle_plugin.h` defines it, and its defects.
    func schemas() -> (tasks: [JSONObject], configuration: JSON?, defects: [String]) {
        var defects: [String] = []
        func schema(_ owner: String, _ derive: () throws(JSONSchemaError) -> JSON?) -> JSON? {
            do throws(JSONSchemaError) {
                guard let schema = try derive() else { return nil }
                if schema.objectValue != nil || schema.boolValue != nil { return schema }
                defects.append("the JSON Schema of the \(owner) is neither an object nor a boolean")
            } catch {
                defects.append("the JSON Schema of the \(owner) cannot be derived: \(error)")
            }
            return nil
        }
        let described = tasks.map { task in
            var members: JSONObject = [:]
            members["options"] = schema("options of the task \(task.name)", task.optionsSchema)
            members["result"] = schema("result of the task \(task.name)", task.resultSchema)
            members["progress"] = schema("progress of the task \(task.name)", task.progressSchema)
            return members
        }
        let configuration = configurations.first.flatMap { found in
            let described = schema("configuration \(found.typeName)", found.schema)
            defects += found.settingDefects(described)
            return described
        }
        return (described, configuration, defects)
    }

    private func nameDefects(_ kind: String, _ names: [String]) -> [String] {
        var found: [String] = []
        var known: Set<String> = []
        for name in names {
            if !NameRule.allows(name) {
                found.append(
                    "the \(kind) name “\(name)” must be parts of letters, digits, - and _, joined by dots, "
                        + "beginning with a letter, at most \(NameRule.maximumBytes) bytes")
            } else if ["bridge", "plugin", "rpc"].contains(name.prefix { $0 != "." }) {
                found.append("the \(kind) name \(name) is reserved for the daemon; choose another")
            }
            if !known.insert(name).inserted { found.append("the \(kind) \(name) occurs twice") }
        }
        return found
    }

    private func launchDefects() -> [String] {
        // Only workers of this plugin can be checked here: the other names in `after` belong to other plugins.
        let after = Dictionary(launchWorkers.map { ($0.name, $0.after) }, uniquingKeysWith: { first, _ in first })
        return launchWorkers.compactMap { worker in
            var seen: Set<String> = []
            var open = worker.after
            while let name = open.popLast() {
                if name == worker.name { return "the launch worker \(name) runs after itself" }
                if seen.insert(name).inserted { open += after[name] ?? [] }
            }
            return nil
        }
    }
}

extension AnyTask {
    fileprivate func defects() -> [String] {
        var found = summaryDefects("task \(name)", summary)
        if settings.permission?.isEmpty == true { found.append("the permission of the task \(name) is empty") }
        if let bytes = settings.optionBytes, bytes < 1 {
            found.append("the optionBytes of the task \(name) are \(bytes); they must be at least 1")
        }
        if let concurrency = settings.concurrency, concurrency < 1 {
            found.append("the concurrency of the task \(name) is \(concurrency); it must be at least 1")
        }
        if let timeout = settings.timeout.duration, timeout <= .zero {
            found.append("the timeout of the task \(name) is \(timeout); it must be more than zero")
        }
        return found
    }
}

extension ConfigurationSection {
    /// Returns the defects of descriptions for settings that the type does not have.
    fileprivate func settingDefects(_ schema: JSON?) -> [String] {
        guard let properties = schema?["properties"]?.objectValue else { return [] }
        return settings.keys.sorted().filter { properties[$0] == nil }.map {
            "the configuration \(typeName) has no setting \($0), but a description of it"
        }
    }
}

private func summaryDefects(_ owner: String, _ summary: String) -> [String] {
    if summary.allSatisfy(\.isWhitespace) { return ["the \(owner) has no summary"] }
    return summary.contains(where: \.isNewline) ? ["the summary of the \(owner) is longer than a line"] : []
}
