import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("An error that a plugin did not foresee, in the runtime")
struct UnforeseenErrorTests {
    private let bench = Bench()

    private var error: BridgeError {
        var error = BridgeError(.internal, "/root/.secret: Permission denied")
        error.isUnforeseen = true
        return error
    }

    @Test("goes to the daemon as it is, and to a plugin that calls in its own name without its words")
    func askers() throws {
        var told: BridgeError?
        bench.slot.perform(.start, options: [:], timeout: nil) {
            if case .failure(let error) = $0 { told = error }
        }
        bench.slot.fail(try #require(bench.host.started.last).handle, error)
        #expect(told?.json == ["code": "internal", "message": "/root/.secret: Permission denied"])

        var outcome: BridgeError?
        Array("work".utf8).withUnsafeBytes { name in
            Array("{}".utf8).withUnsafeBytes { options in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: nil, task: name, options: options, session: nil, deadline: .standard, onProgress: nil,
                        completion: { if case .failure(let error) = $0 { outcome = error } }),
                    by: bench.slot)
            }
        }
        bench.slot.fail(try #require(bench.host.started.last).handle, error)
        #expect(outcome?.code == .internal && outcome?.message.contains("secret") == false)
        #expect(outcome?.data?["error"]?.stringValue?.utf8.count == 12 && outcome?.isUnforeseen == false)
    }

    @Test("is cut where it is longer than 8 KiB")
    func cut() throws {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        var long = error
        long.message = String(repeating: "é", count: 1 << 19)
        bench.slot.fail(try #require(bench.host.started.last).handle, long)
        let message = client.readOne()?["error"]?["message"]?.stringValue
        #expect(message == String(repeating: "é", count: 4 << 10) + "…")
    }
}
