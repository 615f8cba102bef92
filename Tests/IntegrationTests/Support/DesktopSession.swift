import BridgeJSON
import Glibc
import TestSupport

/// A daemon, a session bus, a desktop presenter between them, and a client that requests alerts.
final class DesktopSession {
    let daemon: DaemonProcess
    let bus: SessionBusProcess
    let presenter: Command
    let client: Wire
    private var lastID = 0

    /// - Parameter ready: Called while the presenter queries the capabilities of the notification service.
    init(_ daemon: DaemonProcess, _ bus: SessionBusProcess, whileStarting ready: () throws -> Void = {}) throws {
        self.daemon = daemon
        self.bus = bus
        client = try daemon.connect()
        presenter = try Command(daemon.home, "present", "--desktop", environment: bus.environment)
        try ready()
        try client.result("bridge.tasks") { $0["tasks"]?.arrayValue?.contains { $0["name"] == "ui.alert" } == true }
    }

    /// Requests an alert. Returns the id of its callback.
    func alert(_ options: JSON) throws -> JSON {
        lastID += 1
        let id = JSON.string("alert \(lastID)")
        try client.send(["task": "Alert", "options": options, "callbackId": id])
        return id
    }

    /// Returns the answer of an alert without its options: `button`, `presenter`, and `text` if present.
    func answer(_ id: JSON) throws -> JSON {
        let callback = try client.receive { $0["callbackId"] == id }
        guard let result = callback["result"] else { return callback["error"] ?? nil }
        var answer: JSONObject = ["button": result["button"] ?? nil, "presenter": result["presenter"] ?? nil]
        answer["text"] = result["text"]
        return .object(answer)
    }
}

/// Runs `body` with a desktop whose notification service is controlled by the test.
func withDesktop(
    capabilities: [String] = ["actions", "body"], _ body: (DesktopSession, FakeNotifications) throws -> Void
) throws {
    try withDaemon { daemon in
        let bus = try SessionBusProcess()
        let service = try FakeNotifications(bus.address, capabilities: capabilities)
        try body(DesktopSession(daemon, bus) { try service.awaitQuestion() }, service)
    }
}
