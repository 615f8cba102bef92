import BridgeJSON
import Glibc
import TestSupport
import Testing

// The formula of docs/operations.md in one daemon, with everything that it counts at the maximum of one user.
extension QuotaTests {
    private static let subscribers = 64
    private static let callers = 16
    private static let callsOfEach = 1_024
    /// The number of sessions that leave answers unread, and of those that leave a line unfinished.
    private static let others = 16

    /// The factor is 1: root has the quotas of any user. One call remains for the watcher.
    private static let allAtOnce = """
        [limits]
        stalled = "1h"
        [quotas]
        trusted_factor = 1
        queued_bytes = "16MiB"
        uid_queued_bytes = "16MiB"
        uid_calls_in_flight = \(callers * callsOfEach + 1)
        """

    private static let sessionCount = subscribers + callers + 2 * others + 2
    private static let wholeBound =
        2 * (queuedBytes + messageBytes) + sessionCount * (384 << 10) + (callers * callsOfEach + 1) * (4 << 10)
        + (subscribers * tasksOfEach + 1) * (4 << 10) + subscribers * patternsOfEach * 256 + descriptionBytes
        + 4 * messageBytes + (24 << 20)

    /// The bound for sessions that leave the maximum number and length of texts and have no call in flight.
    private static let textBound =
        2 * messageBytes + (subscribers + 1) * (384 << 10) + subscribers * tasksOfEach * (4 << 10)
        + subscribers * patternsOfEach * 256 + descriptionBytes + 4 * messageBytes + (24 << 20)

    @Test("Memory stays within the formula at the maximum of everything, lies above the stored bytes, and is released")
    func everythingAtOnce() throws {
        try withDaemon(Self.allAtOnce) { daemon in
            let watcher = try daemon.connect()
            #expect(try watcher.result("Echo", 1) == 1)
            let before = Self.memory(of: daemon.pid)
            var clients = try (0..<Self.subscribers).map { _ in try daemon.connect() }
            // A lower bound of the memory in use: schemas, names of 128 bytes, the texts of a session, retained events.
            var keptBytes = Self.subscribers * (Self.patternsOfEach * 128 + 9_000) + (4 << 20)
            for (number, client) in clients.enumerated() { keptBytes += try leaveTexts(client, number) }
            // The maximum of all sessions together: root may have it alone.
            try retainEvents(watcher)
            #expect(try watcher.call("bridge.subscribe", ["events": ["more"]])["error"]?["code"] == "quota.exceeded")
            func check(_ what: String, _ bound: Int = Self.wholeBound) {
                let taken = Self.memory(of: daemon.pid) - before
                #expect(taken <= bound, "\(what): \(taken >> 20) MiB of \(bound >> 20)")
                #expect(taken >= keptBytes / 2, "\(what): \(taken >> 20) MiB, where \(keptBytes >> 20) are kept")
            }
            check("texts", Self.textBound)
            clients += try leaveUnread(daemon, watcher) { check("unread and unfinished") }
            // The quota was reached: less than one message was free.
            keptBytes += Self.queuedBytes - Self.messageBytes
            check("all that is unread and unfinished")
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["hold"]])
            clients.append(provider)
            for _ in 0..<Self.callers {
                let caller = try daemon.connect()
                clients.append(caller)
                try fill(caller, provider)
                // The daemon's own part of a call, without the options.
                keptBytes += Self.callsOfEach * 256
            }
            check("calls")
            let refusals = try watcher.result("bridge.status")["quotaRefusals"]
            for quota in ["queued_bytes", "description_bytes", "calls_in_flight", "subscriptions"] {
                #expect((refusals?[quota]?.int64Value ?? 0) > 0, "\(quota): \(refusals?.text ?? "")")
            }
            for client in clients { client.close() }
            try watcher.result("bridge.status") { $0["sessions"] == 1 }
            watcher.close()
            Self.awaitRelease(daemon.pid, before)
        }
    }

    /// Opens the maximum number of calls of a session, with options that do not count as queued. One more is refused.
    private func fill(_ caller: Wire, _ provider: Wire) throws {
        let filling = String(repeating: "x", count: 1_000)
        for number in 0..<Self.callsOfEach {
            try caller.send(#"{"task":"hold","options":"\#(filling)","callbackId":"\#(number)"}"#)
            // The provider reads its calls, so that none is unread.
            if number % 16 == 15 { for _ in 0..<16 { _ = try provider.receive { $0["task"] == "hold" } } }
        }
        #expect(try caller.call("Echo", 1)["error"]?["data"]?["quota"] == "calls_in_flight")
    }

    /// Makes some sessions leave answers unread and some leave a line unfinished, until the daemon reads nothing more.
    private func leaveUnread(_ daemon: DaemonProcess, _ watcher: Wire, _ check: () -> Void) throws -> [Wire] {
        let wires = try (0..<2 * Self.others).map { _ in try daemon.connect() }
        let filling = String(repeating: "x", count: 900 << 10)
        let unfinished = Array(#"{"task":"Echo","callbackId":1,"options":"\#(filling)"#.utf8)
        let whole = unfinished + Array("\"}\n".utf8)
        var sent = wires.map { _ in 0 }
        var isMoving = true
        while isMoving {
            isMoving = false
            for (index, wire) in wires.enumerated() {
                let isReader = index < Self.others
                guard sent[index] < (isReader ? 12 * whole.count : unfinished.count) else { continue }
                let rest = isReader ? whole[(sent[index] % whole.count)...] : unfinished[sent[index]...]
                let count = try wire.offer(rest)
                sent[index] += count
                if count > 0 { isMoving = true }
            }
            // The daemon has processed everything that was sent before it answers this call.
            _ = try watcher.call("bridge.ping")
            check()
        }
        return wires
    }
}
