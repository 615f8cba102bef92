import CSystemdBus
import Glibc
import TestSupport

@testable import trestle

/// A notification service that the test controls, on the thread of the test, for behaviour that a real service cannot
/// be made to show.
final class FakeNotifications {
    /// The arguments of a `Notify` call.
    struct Notification: Equatable {
        /// The bus name that receives the signals about the notification.
        var presenter: String
        var number: UInt32
        var summary: String
        var body: String
        var actions: [String]
        var hints: [String: BusValue]
        var expiryMilliseconds: Int32
    }

    static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    let capabilities: [String]
    private let bus: OpaquePointer
    private var lastNumber: UInt32 = 40

    /// Connects to the bus. Requests the name of the notification service if `named` is true.
    init(_ address: String, capabilities: [String] = ["actions", "body"], named: Bool = true) throws {
        self.capabilities = capabilities
        var bus: OpaquePointer?
        guard sd_bus_new(&bus) >= 0, let bus else { throw TestFailure("no bus connection can be made") }
        self.bus = bus
        sd_bus_set_address(bus, address)
        sd_bus_set_bus_client(bus, 1)
        try Self.check(sd_bus_start(bus), "connect")
        if named { try Self.check(sd_bus_request_name(bus, Self.name, 0), "take the name") }
    }

    deinit { sd_bus_flush_close_unref(bus) }

    private static func check(_ status: Int32, _ what: String) throws {
        if status < 0 { throw TestFailure("the fake service cannot \(what): \(String(cString: strerror(-status)))") }
    }

    /// Releases the name, like a service that ends.
    func leave() throws { try Self.check(sd_bus_release_name(bus, Self.name), "release the name") }

    // MARK: Calls that it receives

    /// Answers the query for capabilities, which the presenter makes once.
    func awaitQuestion() throws {
        try answer(try call("GetCapabilities"), [.strings(capabilities)])
    }

    /// Receives a notification and answers the call. `beforehand` is called before the answer, with its number already
    /// set.
    func show(beforehand: (Notification) throws -> Void = { _ in }) throws -> Notification {
        let call = try call("Notify")
        let message = try call.content()
        guard message.body.count == 8, message.body[0] == .string("Trestle"), message.body[1] == .uint32(0),
            case .string(let summary) = message.body[3], case .string(let body) = message.body[4],
            case .strings(let actions) = message.body[5], case .properties(let hints) = message.body[6],
            case .int32(let expiry) = message.body[7]
        else { throw TestFailure("Notify does not fit: \(message)") }
        lastNumber += 1
        let notification = Notification(
            presenter: message.sender, number: lastNumber, summary: summary, body: body, actions: actions, hints: hints,
            expiryMilliseconds: expiry)
        try beforehand(notification)
        try answer(call, [.uint32(lastNumber)])
        return notification
    }

    /// Waits for the request to close a notification, and closes it.
    func awaitClosing() throws -> UInt32 {
        let call = try call("CloseNotification")
        guard case .uint32(let number)? = try call.content().body.first else { throw TestFailure("CloseNotification") }
        try emit("NotificationClosed", number, .uint32(3))
        try answer(call, [])
        return number
    }

    /// Returns the next call, which must be of this method.
    private func call(_ method: String) throws -> MessageHandle {
        let deadline = Deadline()
        while true {
            var message: OpaquePointer?
            let status = sd_bus_process(bus, &message)
            try Self.check(status, "read from the bus")
            if let message {
                let handle = MessageHandle(adopting: message)
                guard sd_bus_message_is_method_call(message, Self.name, nil) > 0 else { continue }
                let member = sd_bus_message_get_member(message).map { String(cString: $0) } ?? ""
                guard member == method else { throw TestFailure("\(member) was called instead of \(method)") }
                return handle
            }
            if status > 0 { continue }
            if deadline.isOver { throw TestFailure("\(method) is never called") }
            try Self.check(sd_bus_wait(bus, UInt64(deadline.millisecondsLeft) * 1_000), "wait")
        }
    }

    private func answer(_ call: borrowing MessageHandle, _ values: [BusValue]) throws {
        var reply: OpaquePointer?
        try Self.check(sd_bus_message_new_method_return(call.raw, &reply), "answer")
        guard let reply else { return }
        let handle = MessageHandle(adopting: reply)
        try handle.append(values)
        try Self.check(sd_bus_send(bus, handle.raw, nil), "answer")
        try Self.check(sd_bus_flush(bus), "answer")
    }

    // MARK: Signals that it sends

    /// Sends a signal about a notification to all receivers, or to one.
    func emit(_ signal: String, _ number: UInt32, _ value: BusValue, to receiver: String? = nil) throws {
        var message: OpaquePointer?
        try Self.check(sd_bus_message_new_signal(bus, &message, Self.path, Self.name, signal), "make a signal")
        guard let message else { return }
        let handle = MessageHandle(adopting: message)
        try handle.append([.uint32(number), value])
        try Self.check(
            receiver.map { sd_bus_send_to(bus, handle.raw, $0, nil) } ?? sd_bus_send(bus, handle.raw, nil), "signal")
        try Self.check(sd_bus_flush(bus), "signal")
    }

    /// Presses a button.
    func press(_ key: String, of notification: Notification) throws {
        try emit("ActionInvoked", notification.number, .string(key))
        try emit("NotificationClosed", notification.number, .uint32(2))
    }

    /// Closes a notification for the given reason; 2 means that the user dismissed it.
    func close(_ notification: Notification, reason: UInt32 = 2) throws {
        try emit("NotificationClosed", notification.number, .uint32(reason))
    }
}
