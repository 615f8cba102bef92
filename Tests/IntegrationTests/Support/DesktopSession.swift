import BridgeJSON
import Glibc
import TestSupport

/// A daemon, a session bus and a desktop presenter between them; and a client that has alerts shown.
final class DesktopSession {
    let daemon: DaemonProcess
    let bus: SessionBusProcess
    let presenter: Command
    let client: Wire
    private var lastID = 0

    /// - Parameter ready: called while the presenter asks what the notification service can do.
    init(_ daemon: DaemonProcess, _ bus: SessionBusProcess, whileStarting ready: () throws -> Void = {}) throws {
        self.daemon = daemon
        self.bus = bus
        client = try daemon.connect()
        presenter = try Command(daemon.home, "present", "--desktop", environment: bus.environment)
        try ready()
        try client.result("bridge.tasks") { $0["tasks"]?.arrayValue?.contains { $0["name"] == "ui.alert" } == true }
    }

    /// Has an alert shown; its answer comes with this id.
    func alert(_ options: JSON) throws -> JSON {
        lastID += 1
        let id = JSON.string("alert \(lastID)")
        try client.send(["task": "Alert", "options": options, "callbackId": id])
        return id
    }

    /// What the alert was answered, without its options: `button`, `presenter`, and `text` where there is one.
    func answer(_ id: JSON) throws -> JSON {
        let callback = try client.receive { $0["callbackId"] == id }
        guard let result = callback["result"] else { return callback["error"] ?? nil }
        var answer: JSONObject = ["button": result["button"] ?? nil, "presenter": result["presenter"] ?? nil]
        answer["text"] = result["text"]
        return .object(answer)
    }
}

/// Runs `body` with a desktop whose notification service is the test's.
func withDesktop(
    capabilities: [String] = ["actions", "body"], _ body: (DesktopSession, FakeNotifications) throws -> Void
) throws {
    try withDaemon { daemon in
        let bus = try SessionBusProcess()
        let service = try FakeNotifications(bus.address, capabilities: capabilities)
        try body(DesktopSession(daemon, bus) { try service.awaitQuestion() }, service)
    }
}
