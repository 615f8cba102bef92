import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("An unforeseen error of a plugin, in the runtime")
struct UnforeseenErrorTests {
    private let bench = Bench()

    private var error: BridgeError {
        var error = BridgeError(.internal, "/root/.secret: Permission denied")
        error.isUnforeseen = true
        return error
    }

    @Test("reaches the daemon unchanged, but another plugin's own call without its message")
    func askers() throws {
        var received: BridgeError?
        bench.instance.perform(.start, options: [:], timeout: nil) {
            if case .failure(let error) = $0 { received = error }
        }
        bench.instance.fail(try #require(bench.host.started.last).handle, error)
        #expect(received?.json == ["code": "internal", "message": "/root/.secret: Permission denied"])

        var outcome: BridgeError?
        Array("work".utf8).withUnsafeBytes { name in
            Array("{}".utf8).withUnsafeBytes { options in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: nil, task: name, options: options, session: nil, deadline: .standard, onProgress: nil,
                        completion: { if case .failure(let error) = $0 { outcome = error } }),
                    by: bench.instance)
            }
        }
        bench.instance.fail(try #require(bench.host.started.last).handle, error)
        #expect(outcome?.code == .internal && outcome?.message.contains("secret") == false)
        #expect(outcome?.data?["error"]?.stringValue?.utf8.count == 12 && outcome?.isUnforeseen == false)
    }

    @Test("is cut after 8 KiB")
    func cut() throws {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        var long = error
        long.message = String(repeating: "é", count: 1 << 19)
        bench.instance.fail(try #require(bench.host.started.last).handle, long)
        let message = client.readOne()?["error"]?["message"]?.stringValue
        #expect(message == String(repeating: "é", count: 4 << 10) + "…")
    }

    @Test("The log accepts 200 lines at once, then a hundred a second, and counts the omitted lines")
    func lines() {
        let start = bench.clock.now
        var allowance = LogAllowance()
        let verdicts = (0..<250).map { _ in allowance.take(at: start) }
        #expect(verdicts.prefix(200).allSatisfy { $0 == .write })
        #expect(verdicts.dropFirst(200).allSatisfy { $0 == .leaveOut })
        #expect(allowance.take(at: start.advanced(by: .milliseconds(10))) == .writeAfter(50))
        #expect(allowance.take(at: start.advanced(by: .milliseconds(10))) == .leaveOut)
        let later = (0..<300).map { _ in allowance.take(at: start.advanced(by: .seconds(60))) }
        #expect(later.count { $0 != .leaveOut } == 200)
    }

    @Test("is logged within the limit of lines; omitted lines are counted, and each error has its own id")
    func manyLines() throws {
        let log = LogOfTest()
        let bench = Bench(log: log)
        let client = bench.client(uid: 0)
        func fail(_ count: Int) throws {
            for _ in 0..<count {
                client.send(#"{"task":"work","callbackId":1}"#)
                bench.instance.fail(try #require(bench.host.started.last).handle, error)
            }
        }
        try fail(1_000)
        #expect(log.lines.all.count == 200)
        let ids = client.read().compactMap { $0["error"]?["data"]?["error"]?.stringValue }
        #expect(ids.count == 1_000 && Set(ids).count == 1_000)
        bench.clock.advance(.milliseconds(10))
        try fail(1)
        #expect(log.lines.all.count == 202)
        #expect(log.lines.all[200].contains("800"))
        #expect(log.lines.all[201].contains("/root/.secret"))
    }
}
