import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Calls of a page whose process is stopped", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct StoppedProcessTests {
    private static let calls = 50

    private static func rules(_ origins: [String]) -> String {
        "[[rule]]\nallow = \"call\"\nnames = \"test.hold\"\norigin = \"\(origins[0])\"\n"
    }

    /// Runs a test with a page whose calls of `test.hold` wait for `release`, and with the steps of these calls.
    private func withHeldCalls(
        unresponsive: String,
        _ body: (WebRun, inout AsyncStream<String>.Iterator, _ release: () -> Void) async throws -> Void
    ) async throws {
        try await WebRun.with(rules: Self.rules) { run in
            let (steps, writer) = AsyncStream.makeStream(of: String.self)
            let (gate, key) = AsyncStream.makeStream(of: Void.self)
            let opened = Task { for await _ in gate {} }
            try await run.bridge.register("test.hold") { (number: JSON, _) -> JSON in
                writer.yield("began")
                await withTaskCancellationHandler {
                    await opened.value
                } onCancel: {
                    writer.yield("cancelled")
                }
                return number
            }
            // A waiting view would have a process too.
            try await run.startPage(
                profile: "[recovery]\nunresponsive = \"\(unresponsive)\"\n[pool]\nwarm = 0\n")
            _ = try await run.evaluate(
                """
                globalThis.ends = [];
                for (let number = 0; number < \(Self.calls); number += 1) {
                    ends[number] = [];
                    WebBridge.call("test.hold", number, (result, error) => ends[number].push(error?.code ?? result));
                }
                """)
            var step = steps.makeAsyncIterator()
            for _ in 0..<Self.calls { #expect(await step.next() == "began") }
            try await body(run, &step) { key.finish() }
        }
    }

    @Test("answers that arrive while it is stopped reach each call once when it continues")
    func resumed() async throws {
        try await withHeldCalls(unresponsive: "10m") { run, _, release in
            try run.signalWebProcesses(SIGSTOP)
            release()
            // The daemon has the answers once it has answered a later call of the same provider.
            _ = try await run.bridge.call("Echo", [:] as JSON, as: JSON.self)
            try run.signalWebProcesses(SIGCONT)
            let ends = try await run.evaluate(
                """
                while (ends.some((end) => end.length === 0)) await new Promise((done) => setTimeout(done, 10));
                await new Promise((done) => WebBridge.call("Echo", {}, done));
                return ends;
                """)
            #expect(ends.arrayValue == (0..<Self.calls).map { [.number(JSONNumber(Int64($0)))] })
        }
    }

    @Test("its end cancels each call once, and its page is loaded again")
    func ended() async throws {
        try await withHeldCalls(unresponsive: "1s") { run, step, release in
            var events = try await run.bridge.subscribe(to: "web.unresponsive").makeAsyncIterator()
            try run.signalWebProcesses(SIGSTOP)
            #expect(try await events.next()?.data["view"] == 1)
            for _ in 0..<Self.calls { #expect(await step.next() == "cancelled") }
            #expect(try await run.report().value == "loaded")
            release()
            #expect(try await run.evaluate("return typeof ends") == "undefined")
        }
    }
}
