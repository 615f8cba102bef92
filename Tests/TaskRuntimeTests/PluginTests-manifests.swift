import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

extension PluginTests {
    @Test(
        "An invalid manifest is refused with the reason",
        arguments: [
            (#"{"name":"x"}"#, "$.version"), (#"{"name":"","version":"1","tasks":[]}"#, "no name"),
            (#"{"name":"x","version":"1","tasks":[{"name":"t"}]}"#, "$.tasks[0].summary"),
            (#"{"name":"x","version":"1","tasks":[{"name":"t","summary":"s","timeout":0}]}"#, "timeout"),
            (#"{"name":"x","version":"1","tasks":[{"name":"t","summary":"s","concurrency":0}]}"#, "below 1"),
            (
                #"{"name":"x","version":"1","tasks":[{"name":"t","summary":"s"},{"name":"t","summary":"s"}]}"#,
                "same name"
            ),
            (#"{"name":"x","version":"1","tasks":[],"launchWorkers":[{"name":"w","phase":"environment"}]}"#, "phase"),
            (#"{"name":"x","version":"1","tasks":[],"error":"the type T has no schema"}"#, "the type T has no schema"),
            ("{", "no JSON"), ("not", "JSON"),
        ])
    func badManifests(text: String, part: String) {
        let error = #expect(throws: BridgeError.self) {
            try Array(text.utf8).withUnsafeBytes { _ = try PluginManifest(parsing: $0) }
        }
        #expect(error?.message.contains(part == "no JSON" ? "JSON" : part) == true, "\(error?.message ?? "")")
    }

    @Test(
        "Task names in a manifest follow the same rule as task names of clients",
        arguments: [
            "", "bridge.mine", "plugin.stop", "rpc.discover", "a b", "a\tb", "a\u{7F}", "$(id)", "a;b", "a*", "é",
            "\u{212A}", String(repeating: "a", count: 129),
        ])
    func badTaskNames(name: String) throws {
        func manifest(_ name: String) throws -> PluginManifest {
            try PluginManifest([
                "name": "x", "version": "1", "tasks": [["name": .string(name), "summary": "A specimen."]],
            ])
        }
        let refusal = #expect(throws: BridgeError.self) { _ = try manifest(name) }
        #expect(refusal?.message.contains("1 to 128 of the characters") == true, "\(refusal?.message ?? "")")
        #expect(try manifest("bridges.A_1:/-" + String(repeating: "a", count: 114)).tasks.count == 1)
    }

    @Test("The deadline of a task in a manifest is the daemon's, none, or its own")
    func manifestDeadlines() throws {
        let text = #"""
            {"name":"x","version":"1","tasks":[{"name":"a","summary":"s"},{"name":"b","summary":"s","timeout":null},
            {"name":"c","summary":"s","timeout":250,"concurrency":2,"private":true,"permission":"p"}]}
            """#
        let manifest = try Array(text.utf8).withUnsafeBytes { try PluginManifest(parsing: $0) }
        #expect(manifest.tasks.map(\.deadline) == [.standard, .none, .after(.milliseconds(250))])
        #expect(manifest.tasks[2].concurrency == 2 && manifest.tasks[2].isPrivate)
        #expect(manifest.tasks.map(\.permission) == ["a", "b", "p"])
    }
}
