import BridgeJSON
import EventLoop

/// The notification service of the user's desktop: `org.freedesktop.Notifications` on the session bus.
@LoopActor
final class NotificationService {
    /// A notification. The number is specific to its service: the next service starts again.
    struct ID: Sendable, Hashable {
        /// The unique bus name of the service that shows it.
        var service: String
        var number: UInt32
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    /// Called with each event of a notification, including those of other programs.
    var onEvent: (@LoopActor (ID, DesktopNotification.Event) -> Void)?
    /// Called with the unique bus name of a service that has left the bus. Its notifications no longer exist.
    var onLeaving: (@LoopActor (String) -> Void)?

    private let bus: BusConnection
    /// The capabilities of the current service; `nil` if they must be requested.
    private var known: NotificationCapabilities?

    init(_ bus: BusConnection) throws(BusError) {
        self.bus = bus
        try listen("ActionInvoked") { $0[1].text.map { .action($0) } }
        try listen("NotificationReplied") { $0[1].text.map { .replied($0) } }
        try listen("NotificationClosed") { $0[1].number.map { .closed($0) } }
        let change = BusSignal(
            sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged", firstText: Self.name)
        try bus.receive(change) { [weak self] signal in
            guard let self, signal.body.count == 3, let old = signal.body[1].text else { return }
            known = nil
            if !old.isEmpty { onLeaving?(old) }
        }
    }

    /// Receives a signal about notifications. Its first value is the notification's number; it has at least two values.
    private func listen(
        _ member: String, _ event: @escaping @LoopActor ([BusValue]) -> DesktopNotification.Event?
    ) throws(BusError) {
        let signal = BusSignal(sender: Self.name, path: Self.path, interface: Self.name, member: member)
        try bus.receive(signal) { [weak self] signal in
            guard signal.body.count >= 2, let number = signal.body[0].number, let event = event(signal.body) else {
                return
            }
            self?.onEvent?(ID(service: signal.sender, number: number), event)
        }
    }

    /// Returns the capabilities of the service. Starts the service if the bus can start it.
    func capabilities() async throws(BusError) -> NotificationCapabilities {
        if let known { return known }
        let reply = try await bus.call(method("GetCapabilities"))
        let capabilities = NotificationCapabilities(reply.body.first?.texts ?? [])
        known = capabilities
        return capabilities
    }

    /// Shows a notification until it is answered or closed. Calls `completion` before any signal that follows the
    /// reply.
    func show(
        _ notification: DesktopNotification, completion: @escaping @LoopActor (Result<ID, BusError>) -> Void
    ) {
        var hints: [String: BusValue] = ["urgency": .byte(notification.isUrgent ? 2 : 1)]
        if let placeholder = notification.placeholder {
            hints["x-kde-reply-placeholder-text"] = .string(placeholder)
            hints["x-kde-reply-submit-button-text"] = .string(PlainText.line(notification.alert.buttons[0]))
        }
        let arguments: [BusValue] = [
            .string("Trestle"), .uint32(0), .string(notification.icon), .string(notification.summary),
            .string(notification.body), .strings(notification.actions), .properties(hints),
            // No expiry: the caller waits, and cancels the alert when it stops waiting.
            .int32(0),
        ]
        bus.call(method("Notify"), arguments) { result in
            completion(
                result.flatMap { reply in
                    guard let number = reply.body.first?.number else {
                        return .failure(.refused(name: "Notify", message: "the answer names no notification"))
                    }
                    return .success(ID(service: reply.sender, number: number))
                })
        }
    }

    /// Closes a notification if it still exists. The call goes to the service that shows it, because other services
    /// have other notifications.
    func close(_ id: ID, completion: @escaping @LoopActor () -> Void = {}) {
        var close = method("CloseNotification")
        close.destination = id.service
        bus.call(close, [.uint32(id.number)], timeout: .seconds(2)) { _ in completion() }
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(destination: Self.name, path: Self.path, interface: Self.name, member: member)
    }
}
