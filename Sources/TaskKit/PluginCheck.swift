/// What is wrong with a plugin, all of it, in sentences for its author.
public struct PluginDefects: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name that the plugin gave itself.
    public var plugin: String
    /// One sentence each; at least one.
    public var sentences: [String]

    /// All of it in one line.
    public var description: String { "the plugin \(plugin) cannot be used: " + sentences.joined(separator: "; ") }
}

extension Plugin {
    /// Checks what can be checked without running the plugin: names, summaries, settings, patterns, and that the JSON
    /// Schemas can be derived. To be called from a test of the plugin's own:
    ///
    ///     @Test func conforms() throws { try makePlugin().check() }
    ///
    /// - Throws: Everything that was found.
    public func check() throws(PluginDefects) {
        let sentences = parts.defects() + parts.schemas().defects
        if !sentences.isEmpty { throw PluginDefects(plugin: parts.name, sentences: sentences) }
    }
}

/// The rules for names, and why they are as they are: a name stands in URLs, command lines and configuration keys.
enum NameRule {
    /// The longest name of a task, event or launch worker, in bytes: one still fits on a line of a log or a table.
    static let maximumBytes = 128

    /// The longest name of a plugin, in bytes: it is a directory's name, with room for a suffix.
    static let maximumPluginBytes = 64

    /// Letters, digits, `-` and `_`, beginning with a letter.
    static func allowsPlugin(_ name: String) -> Bool {
        name.utf8.count <= maximumPluginBytes && startsWithLetter(name) && name.utf8.allSatisfy(isPartByte)
    }

    /// Parts of letters, digits, `-` and `_`, joined by dots, beginning with a letter.
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
    /// What is wrong, in sentences; but for the schemas, which are derived when a client asks for them: it takes longer
    /// than all else that a plugin does when it is loaded.
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
        if handovers.count > 1 { found.append("the plugin hands its sessions over in more than one way") }
        return found
    }

    /// What `describe` answers of tasks and configuration, as `trestle_plugin.h` has it, and what is wrong with it.
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
                    "the name “\(name)” of a \(kind) must be parts of letters, digits, - and _, joined by dots, "
                        + "beginning with a letter, at most \(NameRule.maximumBytes) bytes")
            } else if ["bridge", "plugin", "rpc"].contains(name.prefix { $0 != "." }) {
                found.append("the name \(name) of a \(kind) is the daemon's; choose another")
            }
            if !known.insert(name).inserted { found.append("the \(kind) \(name) occurs twice") }
        }
        return found
    }

    private func launchDefects() -> [String] {
        // Only what lies within the plugin can be seen here: the other names of `after` belong to other plugins.
        let after = Dictionary(launchWorkers.map { ($0.name, $0.after) }, uniquingKeysWith: { first, _ in first })
        return launchWorkers.compactMap { worker in
            var seen: Set<String> = []
            var open = worker.after
            while let name = open.popLast() {
                if name == worker.name { return "the launch worker \(name) would come after itself" }
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
    /// What is said about settings that the type does not have.
    fileprivate func settingDefects(_ schema: JSON?) -> [String] {
        guard let properties = schema?["properties"]?.objectValue else { return [] }
        return settings.keys.sorted().filter { properties[$0] == nil }.map {
            "the configuration \(typeName) has no setting \($0), though it is described"
        }
    }
}

private func summaryDefects(_ owner: String, _ summary: String) -> [String] {
    if summary.allSatisfy(\.isWhitespace) { return ["the \(owner) has no summary"] }
    return summary.contains(where: \.isNewline) ? ["the summary of the \(owner) is longer than a line"] : []
}
