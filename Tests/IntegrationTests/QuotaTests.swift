import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Quotas", .blocking)
struct QuotaTests {
    @Test("A uid that exceeds its connections gets an error and a close; its others stay, and one log line appears")
    func connections() throws {
        try withDaemon("[quotas]\nuid_connections = 3\ntrusted_factor = 1") { daemon in
            let first = try daemon.connect()
            // The connection that checked whether the daemon is ready has closed.
            try first.result("bridge.sessions") { $0["sessions"]?.arrayValue?.count == 1 }
            let clients = try [first] + (0..<2).map { _ in try daemon.connect() }
            for client in clients { #expect(try client.result("Echo", 1) == 1) }
            for _ in 0..<20 {
                let refused = try daemon.connect()
                let error = try refused.receive()["error"]
                #expect(error?["code"] == "busy" && error?["retryAfter"] == 1000 && error?["transient"] == true)
                #expect(error?["data"]?["quota"] == "connections" && error?["data"]?["limit"] == 3)
                try refused.awaitHangUp()
            }
            for client in clients { #expect(try client.result("Echo", 2) == 2) }
            #expect(daemon.log.split(separator: "the maximum (quotas.uid_connections)").count == 2)
            clients[0].close()
            // The loop determines when the closed connection no longer counts.
            let deadline = Deadline()
            while (try? daemon.connect().call("Echo", 3))?["result"] != 3, !deadline.isOver {}
            #expect(!deadline.isOver)
        }
    }

    @Test("A flood above the rate is answered call by call, each once, with a time for a retry")
    func rate() throws {
        try withDaemon("[quotas]\nsession_calls_per_second = 100\nsession_calls_burst = 50") { daemon in
            let (client, other) = (try daemon.connect(), try daemon.connect())
            for id in 1...500 { try client.send(#"{"task":"Echo","options":\#(id),"callbackId":\#(id)}"#) }
            var outcomes: [Int64: JSON] = [:]
            for _ in 1...500 {
                let answer = try client.receive()
                #expect(outcomes.updateValue(answer, forKey: try #require(answer["callbackId"]?.int64Value)) == nil)
            }
            let refused = outcomes.values.compactMap { $0["error"] }
            #expect(refused.count >= 300 && refused.allSatisfy { $0["code"] == "busy" && $0["retryAfter"] != nil })
            #expect(outcomes.values.filter { $0["result"] != nil }.count >= 50)
            #expect(try other.result("Echo", 1) == 1)
        }
    }

    @Test("A changed quota applies to open sessions after a reload")
    func reload() throws {
        let home = try DaemonHome()
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("Echo", 1) == 1)
            try home.write(configuration: "[quotas.tasks.Echo]\ncalls_per_second = 1\ncalls_burst = 1")
            #expect(try client.result("bridge.reload")["applied"] == ["quotas.tasks"])
            #expect(try client.result("Echo", 1) == 1)
            let error = try client.call("Echo", 1)["error"]
            #expect(error?["code"] == "busy" && error?["data"]?["of"] == "task Echo")
            #expect(try client.result("bridge.status")["quotaRefusals"]?["calls_per_second"] == 1)
        }
    }

    // MARK: Memory

    /// The formula of docs/operations.md with the settings below, without the memory that the daemon uses before the
    /// first client.
    private static let sessions = 48
    static let queuedBytes = 16 << 20
    static let messageBytes = 1 << 20
    private static let bound = 2 * (queuedBytes + messageBytes) + sessions * (384 << 10) + 4 * messageBytes + (24 << 20)

    @Test("Memory stays within the formula, whatever clients leave unread and whatever lines they leave unfinished")
    func memory() throws {
        let configuration = """
            [limits]
            sessions = \(Self.sessions + 1)
            stalled = "1h"
            [quotas]
            queued_bytes = "16MiB"
            """
        try withDaemon(configuration) { daemon in
            let watcher = try daemon.connect()
            #expect(try watcher.result("Echo", 1) == 1)
            let before = Self.memory(of: daemon.pid)
            let half = Self.sessions / 2
            // Without quotas the daemon would hold 5 MiB of answers for each reader and a line of 1 MiB for each
            // writer.
            let readers = try (0..<half).map { _ in try daemon.connect() }
            let writers = try (0..<half).map { _ in try daemon.connect() }
            let filling = String(repeating: "x", count: 900 << 10)
            let unfinished = Array(#"{"task":"Echo","callbackId":1,"options":"\#(filling)"#.utf8)
            let whole = unfinished + Array("\"}\n".utf8)
            var unfinishedSent = writers.map { _ in 0 }
            var readersSent = readers.map { _ in 0 }
            var isMoving = true
            while isMoving {
                isMoving = false
                for (index, reader) in readers.enumerated() where readersSent[index] < 12 * whole.count {
                    let count = try reader.offer(whole[(readersSent[index] % whole.count)...])
                    readersSent[index] += count
                    if count > 0 { isMoving = true }
                }
                for (index, writer) in writers.enumerated() where unfinishedSent[index] < unfinished.count {
                    let count = try writer.offer(unfinished[unfinishedSent[index]...])
                    unfinishedSent[index] += count
                    if count > 0 { isMoving = true }
                }
                // The daemon has processed everything that was sent before it answers this call.
                _ = try watcher.call("bridge.ping")
                #expect(Self.memory(of: daemon.pid) - before <= Self.bound)
            }
            let status = try watcher.result("bridge.status")
            #expect((status["quotaRefusals"]?["queued_bytes"]?.int64Value ?? 0) > 0, "\(status.text)")
            // Every line is still answered once it is complete and has been read.
            for (index, writer) in writers.enumerated() where unfinishedSent[index] == unfinished.count {
                try writer.send(bytes: Array("\"}\n".utf8))
                let answer = try writer.receive()
                #expect(answer["result"] != nil || answer["error"]?["code"] == "busy")
            }
            for (index, reader) in readers.enumerated() {
                for _ in 0..<(readersSent[index] / whole.count) {
                    let answer = try reader.receive()
                    #expect(answer["result"] != nil || answer["error"]?["code"] == "busy")
                }
            }
        }
    }

    // MARK: Texts that are stored

    static let tasksOfEach = 12
    static let patternsOfEach = 256
    static let descriptionBytes = 128 << 20

    /// Waits until the daemon has released the memory that it allocated for clients. It does so two seconds after the
    /// last of them has disconnected.
    static func awaitRelease(_ pid: pid_t, _ before: Int) {
        let deadline = Deadline()
        while memory(of: pid) - before > 32 << 20, !deadline.isOver { poll(nil, 0, 20) }
        let left = memory(of: pid) - before
        #expect(left <= 32 << 20, "\(left >> 20) MiB")
    }

    /// Retains the maximum number of events, with the maximum number of bytes.
    func retainEvents(_ client: Wire) throws {
        let data = JSON.string(String(repeating: "x", count: (4 << 20) / 1_024 - 16))
        for number in 0..<1_024 {
            _ = try client.result("bridge.publish", ["event": .string("e\(number)"), "data": data, "retain": true])
        }
        let more = try client.call("bridge.publish", ["event": "more", "data": data, "retain": true])
        #expect(more["error"]?["code"] == "quota.exceeded")
    }

    /// Registers, describes and subscribes as much as a session may, with texts of the maximum length. Longer texts are
    /// refused.
    ///
    /// - Returns: The bytes of the schemas that the daemon accepted.
    @discardableResult
    func leaveTexts(_ client: Wire, _ number: Int) throws -> Int {
        var taken = 0
        func text(_ count: Int) -> JSON { .string(String(repeating: "x", count: count)) }
        #expect(try client.call("bridge.hello", ["client": text(900_000)])["error"]?["code"] == "options.invalid")
        _ = try client.result(
            "bridge.hello",
            [
                "client": text(256), "version": text(256), "userAgent": text(1_024),
                "page": ["url": text(4_096), "title": text(4_096)],
            ])
        func name(_ index: Int) -> JSON {
            let name = "t\(number).\(index)."
            return .string(name + String(repeating: "x", count: 128 - name.utf8.count))
        }
        // Parsed into values, a schema like this takes thirty times the size of its text.
        let examples = #""result":{"examples":[\#(Array(repeating: "[0]", count: 15_000).joined(separator: ","))]}"#
        // Options are checked by a compiled form that is several times as long: one schema for each four bytes.
        let elements = Array(repeating: "{}", count: 20_000).joined(separator: ",")
        let options = #""options":{"prefixItems":[\#(elements)]}"#
        for index in 0..<Self.tasksOfEach {
            let task = name(index).text
            let schema = index % 3 == 0 ? examples : options
            try client.send(
                #"{"task":"bridge.register","options":{"tasks":[\#(task)],"descriptions":{\#(task):"#
                    + #"{"summary":\#(text(256).text),\#(schema)}}},"callbackId":"r"}"#)
            let answer = try client.receive { $0["callbackId"] == "r" }
            let quota = answer["error"]?["data"]?["quota"]
            #expect(answer["result"] != nil || quota == "description_bytes", "\(answer.text)")
            // After one refusal there is no space for the next sessions either.
            guard answer["result"] != nil else { break }
            taken += schema.utf8.count
        }
        _ = try client.result("bridge.subscribe", ["events": .array((0..<Self.patternsOfEach).map(name))])
        return taken
    }

    /// Returns the size of the anonymous memory of a process in bytes.
    static func memory(of pid: pid_t) -> Int {
        let line = contents(of: "/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
