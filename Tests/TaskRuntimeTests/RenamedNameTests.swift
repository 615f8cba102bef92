import BridgeJSON
import TaskRuntime
import Testing

@Suite("A manifest with a member's old name")
struct RenamedNameTests {
    private func refusal(_ members: JSONObject) -> String? {
        var manifest: JSONObject = ["name": "lamp", "version": "1", "tasks": []]
        for (key, value) in members { manifest[key] = value }
        return #expect(throws: BridgeError.self) { _ = try PluginManifest(.object(manifest)) }?.message
    }

    @Test(
        "is refused, and the error contains the new name",
        arguments: [
            (
                "tasks", ["name": "t", "summary": "s", "open": true],
                "a task has the unknown member open; use public"
            ),
            (
                "tasks", ["name": "t", "summary": "s", "optionVerbs": [:]],
                "a task has the unknown member optionVerbs; use optionPermissions"
            ),
            (
                "events", ["name": "e", "summary": "s", "open": true],
                "an event has the unknown member open; use public"
            ),
            (
                "interceptors", ["name": "i", "summary": "s", "tasks": ["t"], "failure": "pass"],
                "an interceptor has the unknown member failure; use onFailure"
            ),
        ] as [(String, JSON, String)])
    func parts(part: String, element: JSON, sentence: String) {
        #expect(refusal([part: [element]])?.contains(sentence) == true)
    }

    @Test("is refused at its top level as well")
    func top() {
        let sentence = "the manifest has the unknown member reconfigurable; use reloadable"
        #expect(refusal(["reconfigurable": true])?.contains(sentence) == true)
    }
}
