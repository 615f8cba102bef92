import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("A task that does not exist")
struct UnknownTaskTests {
    private func message(_ client: FakeClient, _ task: String, by way: String = "call") -> String? {
        let call =
            way == "call"
            ? #"{"task":"\#(task)","callbackId":1}"#
            : #"{"task":"bridge.describe","options":{"task":"\#(task)"},"callbackId":1}"#
        client.send(call)
        let answer = client.readOne()
        #expect(answer?.errorCode == "task.not_found")
        return answer?["error"]?["message"]?.stringValue
    }

    @Test("gets the suggestion of a similar task only if the caller may call it", arguments: ["call", "describe"])
    func hidden(way: String) {
        let bench = Bench(extraTasks: [TaskDescription(name: "camera.scan", isPublic: false)])
        let nothing = "there is no task camera.scn; bridge.tasks lists the tasks"
        #expect(
            message(bench.client(), "camera.scn", by: way) == "there is no task camera.scn; did you mean 'camera.scan'?"
        )
        #expect(message(bench.client(), "camera.scan.of.nobody", by: way)?.contains("did you mean") == false)
        // Without a rule, another user may not call it.
        bench.runtime.apply(Policy(daemonUID: 900, publicGroup: nil, rules: Self.onlyDescribing))
        #expect(message(bench.client(uid: 1_000), "camera.scn", by: way) == nothing)
        #expect(message(bench.client(), "camera.scn", by: way) != nothing)
    }

    /// Rules that allow only `bridge.describe`.
    private static var onlyDescribing: [PolicyRule] {
        var rule = PolicyRule(.allow, [.call], file: "/etc/trestle/policy.d/50-test.toml", line: 1)
        rule.names = [PolicyName("bridge.describe")].compactMap(\.self)
        return [rule]
    }

    @Test("is searched among tasks from its first letter on, if there are more than a search visits")
    func many() {
        let bench = Bench()
        // From several sessions, because each session has a limit of tasks.
        let providers = (0..<11).map { _ in bench.client() }
        for start in stride(from: 0, to: 1_000, by: 100) {
            let provider = providers[start / 100]
            let names = (start..<start + 100).map { #""a.task.\#($0)""# }.joined(separator: ",")
            provider.send(#"{"task":"bridge.register","options":{"tasks":[\#(names)]},"callbackId":0}"#)
            #expect(provider.readOne()?["result"] != nil)
        }
        let provider = providers[10]
        provider.send(#"{"task":"bridge.register","options":{"tasks":["zoom.lens"]},"callbackId":0}"#)
        #expect(provider.readOne()?["result"] != nil)
        let client = bench.client()
        #expect(message(client, "zom.lens") == "there is no task zom.lens; did you mean 'zoom.lens'?")
        // With another first letter, the search does not reach the task.
        #expect(message(client, "aoom.lens")?.contains("did you mean") == false)
    }

    @Test("is searched for only a few times a second for each user, and for plugins")
    func rate() {
        let bench = Bench()
        let clients = [bench.client(), bench.client()]
        let found = (0..<20).filter { message(clients[$0 % 2], "wrk")?.contains("did you mean 'work'?") == true }
        #expect(found == Array(0..<8))
        #expect(message(bench.client(uid: Bench.daemonUID), "wrk")?.contains("did you mean 'work'?") == true)
        bench.clock.advance(.seconds(1))
        #expect(message(clients[0], "wrk")?.contains("did you mean 'work'?") == true)
        let said = (0..<20).map { _ in bench.runtime.suggestions.notFound("wrk", for: nil).message }
        #expect(said.filter { $0.contains("did you mean") }.count == 8)
    }
}
