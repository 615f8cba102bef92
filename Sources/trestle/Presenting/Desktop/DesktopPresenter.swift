import BridgeJSON
import EventLoop

/// Shows alerts as notifications of the user's desktop, any number in parallel. Each ends once: by an event of the
/// service, by its caller, or with the presenter.
@LoopActor
final class DesktopPresenter {
    /// An alert without an answer.
    private struct Open {
        let notification: DesktopNotification
        let continuation: CheckedContinuation<Result<JSON, BridgeError>, Never>
        /// `nil` until the service has returned the notification's number.
        var id: NotificationService.ID?
    }

    private let service: NotificationService
    private var alerts: [UInt64: Open] = [:]
    private var lastTicket: UInt64 = 0
    private var tickets: [NotificationService.ID: UInt64] = [:]
    /// The number of notifications without a number, and early events of unknown notifications: a service may close a
    /// notification before it returns the number.
    private var unnamedCount = 0
    private var early: [(id: NotificationService.ID, event: DesktopNotification.Event)] = []
    /// The number of notifications that are being closed.
    private var closingCount = 0
    private let settled = AsyncSignal<Void>()
    private var isEnding = false

    init(_ bus: BusConnection) throws(BusError) {
        service = try NotificationService(bus)
        service.onEvent = { [weak self] in self?.receive($1, of: $0) }
        service.onLeaving = { [weak self] in self?.lose($0) }
    }

    /// Returns the reason why no alert can be shown at present; `nil` if alerts can be shown.
    func trouble() async -> BusError? {
        do throws(BusError) {
            _ = try await service.capabilities()
            return nil
        } catch {
            return error
        }
    }

    /// Shows an alert and returns the answer.
    /// - Throws: `presenter.unsupported`, `presenter.unavailable`, `alert.dismissed`; `call.cancelled` if the caller
    ///   cancels.
    func show(_ options: JSON) async throws -> JSON {
        let alert = try PresentedAlert(options)
        let capabilities: NotificationCapabilities
        do throws(BusError) {
            capabilities = try await service.capabilities()
        } catch {
            throw BridgeError.unavailable(error)
        }
        let notification = try DesktopNotification(alert, capabilities)
        try Task.checkCancellation()
        lastTicket += 1
        let ticket = lastTicket
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { open(notification, ticket, $0) }
        } onCancel: {
            EventLoop.post { self.end(ticket, .failure(BridgeError(.callCancelled, "the alert was withdrawn"))) }
        }
        return try result.get()
    }

    /// Closes all notifications, ends their alerts with an error, and shows no more.
    func end() async {
        isEnding = true
        for ticket in alerts.keys { end(ticket, .failure(.presenterEnds)) }
        while closingCount + unnamedCount > 0, await settled.wait() != nil {}
    }

    // MARK: Alerts

    private func open(
        _ notification: DesktopNotification, _ ticket: UInt64,
        _ continuation: CheckedContinuation<Result<JSON, BridgeError>, Never>
    ) {
        if isEnding { return continuation.resume(returning: .failure(.presenterEnds)) }
        alerts[ticket] = Open(notification: notification, continuation: continuation)
        unnamedCount += 1
        service.show(notification) { result in
            self.unnamedCount -= 1
            switch result {
            case .success(let id): self.name(ticket, id)
            case .failure(let error): self.end(ticket, .failure(.unavailable(error)))
            }
            if self.unnamedCount == 0 { self.early = [] }
            self.settled.resumeAll(())
        }
    }

    /// Handles the number of a shown notification.
    private func name(_ ticket: UInt64, _ id: NotificationService.ID) {
        // Cancelled meanwhile.
        guard alerts[ticket] != nil else { return close(id) }
        alerts[ticket]?.id = id
        tickets[id] = ticket
        for event in early where event.id == id { receive(event.event, of: id) }
    }

    private func receive(_ event: DesktopNotification.Event, of id: NotificationService.ID) {
        guard let ticket = tickets[id], let alert = alerts[ticket] else {
            if unnamedCount > 0 { early.append((id, event)) }
            return
        }
        guard let outcome = alert.notification.outcome(of: event) else { return }
        if case .closed = event { alerts[ticket]?.id = nil }
        tickets[id] = nil
        end(ticket, outcome)
    }

    /// Handles the end of a service, which also removes its notifications.
    private func lose(_ service: String) {
        for (id, ticket) in tickets where id.service == service {
            tickets[id] = nil
            alerts[ticket]?.id = nil
            end(ticket, .failure(BridgeError("presenter.unavailable", "the desktop's notification service has ended")))
        }
    }

    /// Ends an alert with its result and closes its notification, if it is still shown.
    private func end(_ ticket: UInt64, _ result: Result<JSON, BridgeError>) {
        guard let alert = alerts.removeValue(forKey: ticket) else { return }
        alert.continuation.resume(returning: result)
        if let id = alert.id {
            tickets[id] = nil
            close(id)
        }
    }

    private func close(_ id: NotificationService.ID) {
        closingCount += 1
        service.close(id) {
            self.closingCount -= 1
            self.settled.resumeAll(())
        }
    }
}

extension BridgeError {
    fileprivate static let presenterEnds = BridgeError("presenter.unavailable", "the desktop presenter is ending")

    fileprivate static func unavailable(_ error: BusError) -> BridgeError {
        BridgeError("presenter.unavailable", "the desktop's notification service does not answer: \(error)")
    }
}
