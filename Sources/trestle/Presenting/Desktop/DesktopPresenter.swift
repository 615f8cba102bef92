import BridgeJSON
import EventLoop

/// Shows alerts as notifications of the user's desktop, any number in parallel. Each ends once: by what the service
/// says of its notification, by its caller, or with the presenter.
@LoopActor
final class DesktopPresenter {
    /// An alert whose answer is waited for.
    private struct Open {
        let notification: DesktopNotification
        let continuation: CheckedContinuation<Result<JSON, BridgeError>, Never>
        /// Nil until the service has said which notification it is.
        var id: NotificationService.ID?
    }

    private let service: NotificationService
    private var alerts: [UInt64: Open] = [:]
    private var lastTicket: UInt64 = 0
    private var tickets: [NotificationService.ID: UInt64] = [:]
    /// Notifications that the service has not named yet, and what it has said of unknown ones meanwhile: a service may
    /// close one before it has answered.
    private var unnamedCount = 0
    private var early: [(id: NotificationService.ID, event: DesktopNotification.Event)] = []
    /// Notifications that are being taken away.
    private var closingCount = 0
    private let settled = AsyncSignal<Void>()
    private var isEnding = false

    init(_ bus: BusConnection) throws(BusError) {
        service = try NotificationService(bus)
        service.onEvent = { [weak self] in self?.receive($1, of: $0) }
        service.onLeaving = { [weak self] in self?.lose($0) }
    }

    /// Why no alert could be shown at present; nil: it could.
    func trouble() async -> BusError? {
        do throws(BusError) {
            _ = try await service.capabilities()
            return nil
        } catch {
            return error
        }
    }

    /// Shows an alert and returns the answer.
    /// - Throws: `presenter.unsupported`, `presenter.unavailable`, `alert.dismissed`; `call.cancelled` where the caller
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

    /// Shows nothing more: takes every notification away, and ends its alert with an error.
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

    /// The service has shown it.
    private func name(_ ticket: UInt64, _ id: NotificationService.ID) {
        // Withdrawn meanwhile.
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

    /// A service is gone, and what it showed with it.
    private func lose(_ service: String) {
        for (id, ticket) in tickets where id.service == service {
            tickets[id] = nil
            alerts[ticket]?.id = nil
            end(ticket, .failure(BridgeError("presenter.unavailable", "the desktop's notification service has ended")))
        }
    }

    /// The alert has its one answer; its notification, where there still is one, goes.
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
