import TaskKit
import Testing

private struct Good: BridgeTask {
    static let name = "good.task"
    static let summary = "Is as it should be."
    static let settings = TaskSettings(
        permission: "good", isPublic: true, optionPermissions: ["who": .store], timeout: .milliseconds(1500),
        concurrency: 2, isPrivate: true)
    struct Options: Codable, Sendable { var who: String; var times: Int? }
    struct Result: Codable, Sendable { var text: String }
    struct Progress: Codable, Sendable { var share: Double }
    func run(_ options: Options, _ call: Call) async throws -> Result { Result(text: options.who) }
}

private struct Patient: RawTask {
    static let name = "patient"
    static let summary = "Takes its time."
    static let settings = TaskSettings(timeout: .unlimited)
    static var optionsSchema: JSON? { ["type": "string"] }
    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) { reply.succeed(options) }
}

private struct Bad: BridgeTask {
    static let name = "bad name"
    static let summary = "  "
    static let settings = TaskSettings(permission: "", timeout: .seconds(0), concurrency: 0)
    struct Options: Codable, Sendable {
        /// An enum without a schema, because its cases cannot be listed.
        enum Kind: String, Codable, Sendable { case one }
        var kind: Kind
    }
    func run(_ options: Options, _ call: Call) async throws -> Int { 1 }
}

private struct Careful: RawTask {
    static let name = "careful"
    static let summary = "Looks at its options itself."
    static var optionsSchema: JSON? { ["type": "string"] }
    static var checksOptions: Bool { true }
    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) { reply.succeed(options) }
}

private struct Undescribed: BridgeTask {
    static let name = "undescribed"
    static let summary = "Works, but nobody can say what it takes."
    func run(_ options: Bad.Options, _ call: Call) async throws -> Int { 1 }
}

private struct Daemons: RawTask {
    static let name = "bridge.ping"
    static let summary = "Is the daemon's.\nReally."
    static var resultSchema: JSON? { 3 }
    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) { reply.succeed(options) }
}

@Suite("A plugin's manifest", .timeLimit(.minutes(20)))
struct PluginCheckTests {
    private func good() -> Plugin {
        Plugin("good", version: "1.2.3") {
            Good()
            Patient()
        }
        .event("good.done", "Something was done.")
        .launchWorker("good.prepare", phase: .beforeListening, after: ["other.prepare"]) { _ in }
        .launchWorker("good.warm", phase: .afterListening, required: false) { _ in }
        .configuration(PluginConfiguration(Good.Options(who: "")))
    }

    private func defects(_ plugin: Plugin) -> [String] {
        do throws(PluginDefects) {
            try plugin.check()
            return []
        } catch {
            return error.sentences
        }
    }

    @Test("passes the plugin's check")
    func passes() throws {
        try good().check()
    }

    @Test("describes the whole plugin without schemas, except those against which the daemon checks options")
    func manifest() throws {
        let manifest = try FakeHost(good()).manifest
        #expect(manifest["name"] == "good")
        #expect(manifest["version"] == "1.2.3")
        #expect(manifest["error"] == nil)
        let task = manifest["tasks"]?[0]
        #expect(task?["name"] == "good.task")
        #expect(task?["permission"] == "good")
        #expect(task?["timeout"] == 1500)
        #expect(task?["concurrency"] == 2)
        #expect(task?["private"] == true)
        #expect(task?["public"] == true && task?["optionPermissions"] == ["who": "store"])
        #expect(task?["options"] == nil)
        #expect(task?["result"] == nil)
        let raw = manifest["tasks"]?[1]
        #expect(raw?["timeout"] == JSON.null)
        #expect(raw?["options"] == ["type": "string"])
        #expect(raw?["private"] == nil && raw?["public"] == nil && raw?["optionPermissions"] == nil)
        #expect(manifest["events"] == [["name": "good.done", "summary": "Something was done."]])
        #expect(
            manifest["launchWorkers"] == [
                ["name": "good.prepare", "phase": "beforeListening", "after": ["other.prepare"], "required": true],
                ["name": "good.warm", "phase": "afterListening", "required": false],
            ])
        #expect(manifest["configuration"] == nil)
    }

    private func description(_ plugin: Plugin) async throws -> JSON {
        let answer = await FakeHost(plugin).answer(.describe)
        guard case .result(let description) = answer else { throw Unexpected(answer: answer) }
        return description
    }

    private struct Unexpected: Error {
        var answer: FakeHost.Answer
    }

    @Test("is completed on request by schemas that are derived from the types")
    func description() async throws {
        let description = try await description(good())
        let tasks = try #require(description["tasks"]?.arrayValue)
        #expect(tasks.count == 2)
        #expect(tasks[0]["options"]?["properties"]?["who"]?["type"] == "string")
        #expect(tasks[0]["options"]?["required"] == ["who"])
        #expect(tasks[0]["result"]?["required"] == ["text"])
        #expect(tasks[0]["progress"]?["properties"]?["share"]?["type"] == "number")
        #expect(tasks[1] == ["options": ["type": "string"]])
        #expect(description["configuration"]?["additionalProperties"] == false)
        #expect(description["errors"] == nil)
    }

    @Test("omits the options schema of a raw task that checks its options itself")
    func careful() async throws {
        let plugin = Plugin("careful", version: "1") { Careful() }
        #expect(try FakeHost(plugin).manifest["tasks"]?[0]?["options"] == nil)
        #expect(try await description(plugin)["tasks"]?[0]?["options"] == ["type": "string"])
    }

    @Test("is completed by the valid schemas only, and the defective ones are named")
    func defectiveSchemas() async throws {
        let description = try await description(
            Plugin("bad", version: "1") {
                Undescribed()
                Daemons()
            })
        let tasks = try #require(description["tasks"]?.arrayValue)
        #expect(tasks[0]["options"] == nil)
        #expect(tasks[0]["result"]?["type"] == "integer")
        #expect(tasks[1]["result"] == nil)
        let errors = description["errors"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(errors.count == 2)
        #expect(errors.first?.contains("options of the task undescribed") == true)
        #expect(errors.last?.contains("neither an object nor a boolean") == true)
    }

    @Test("with a defect contains an error in place of its tasks, and nothing crashes")
    func defectiveManifest() throws {
        let manifest = try FakeHost(Plugin("bad", version: "1.0.0") { Bad() }).manifest
        #expect(manifest["tasks"] == [])
        #expect(manifest["error"]?.stringValue?.contains("bad name") == true)
    }

    @Test("names every defect of a task")
    func taskDefects() {
        let found = defects(Plugin("bad", version: "1.0.0") { Bad() })
        for word in ["“bad name”", "summary", "permission", "concurrency", "timeout", "options"] {
            #expect(found.contains { $0.contains(word) }, "\(word): \(found)")
        }
        let daemons = defects(Plugin("bad", version: "1.0.0") { Daemons() })
        for word in ["reserved for the daemon", "longer than a line", "JSON Schema of the result"] {
            #expect(daemons.contains { $0.contains(word) }, "\(word): \(daemons)")
        }
    }

    @Test("refuses duplicate names and a second configuration")
    func twice() {
        let plugin = Plugin("twice", version: "") {
            Patient()
            Patient()
        }
        .event("a", "An event.").event("a", "An event.")
        .configuration(PluginConfiguration(Good.Options(who: ""))).configuration(
            PluginConfiguration(Good.Options(who: "")))
        let found = defects(plugin)
        for word in ["task patient", "event a", "more than one configuration", "version"] {
            #expect(found.contains { $0.contains(word) }, "\(word): \(found)")
        }
    }

    @Test("refuses launch workers that depend on each other")
    func launchCycle() {
        let plugin = Plugin("circle", version: "1.0.0")
            .launchWorker("circle.a", phase: .beforeListening, after: ["circle.b"]) { _ in }
            .launchWorker("circle.b", phase: .beforeListening, after: ["circle.a"]) { _ in }
            .launchWorker("circle.c", phase: .beforeListening, after: ["circle.a"]) { _ in }
        #expect(defects(plugin).count == 2)
    }

    @Test(
        "refuses illegal names of a plugin",
        arguments: ["", "1st", "a.b", "a b", "ä", "-a", String(repeating: "a", count: 65)])
    func pluginNames(_ name: String) {
        #expect(defects(Plugin(name, version: "1.0.0")).count == 1)
    }

    @Test(
        "refuses illegal names of events and accepts legal ones",
        arguments: [
            ("a", true), ("a.b-c_d.9", true), ("A.1", true), (String(repeating: "a", count: 128), true), ("", false),
            (".a", false), ("a.", false), ("a..b", false), ("1a", false), ("a/b", false), ("a é", false),
            (String(repeating: "a", count: 129), false), ("bridge.x", false), ("bridges.x", true),
            ("plugin.x", false), ("plugins.x", true), ("rpc.x", false),
        ])
    func names(_ name: String, _ isLegal: Bool) {
        #expect(defects(Plugin("names", version: "1.0.0").event(name, "An event.")).isEmpty == isLegal)
    }

    @Test("contains the configuration's types with their descriptions, and whether it is reloadable")
    func describedConfiguration() async throws {
        let described: [String: JSON] = [
            "who": ["description": "Whose it is.", "default": "nobody"], "times": ["minimum": 1],
        ]
        let live = Plugin("live", version: "1")
            .configuration(PluginConfiguration(Good.Options(who: "")), describing: described, reloadable: true)
        try live.check()
        #expect(try FakeHost(live).manifest["reloadable"] == true)
        let properties = try await description(live)["configuration"]?["properties"]
        #expect(properties?["who"] == ["type": "string", "description": "Whose it is.", "default": "nobody"])
        #expect(properties?["times"]?["minimum"] == 1)
        #expect(try FakeHost(good()).manifest["reloadable"] == nil)
    }

    @Test("refuses the description of a setting that does not exist")
    func describedTooMuch() {
        let plugin = Plugin("lively", version: "1")
            .configuration(PluginConfiguration(Good.Options(who: "")), describing: ["whom": ["description": "?"]])
        #expect(defects(plugin) == ["the configuration Options has no setting whom, but a description of it"])
    }
}
