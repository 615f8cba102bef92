public import BridgeClient
public import BridgeJSON
internal import MainLoop
public import WebContainer
internal import WebKitViews
public import WebProfiles

/// Reloads pages when another user has logged in or out at the daemon.
@MainActor
public final class LoginReloads {
    private static let event = "login.changed"

    private let bridge: Bridge
    private let container: Container
    private let origins: Set<PageOrigin>
    private var changes = LoginChanges()
    /// The session that logged in or out last. Its page updates itself.
    private var session: Int64?
    private var pause: LoopSource?

    /// Creates the reloads of pages of some origins.
    ///
    /// - Parameters:
    ///   - bridge: The connection to the daemon.
    ///   - container: The pages.
    ///   - origins: The origins whose pages are reloaded.
    public init(_ bridge: Bridge, _ container: Container, _ origins: [PageOrigin]) {
        self.bridge = bridge
        self.container = container
        self.origins = Set(origins)
    }

    /// Subscribes to logins. The subscription retains this object as long as the connection exists.
    ///
    /// - Throws: The daemon's error.
    public func start() async throws(BridgeError) {
        let events = try await bridge.subscribe(to: Self.event)
        Task {
            do {
                for try await event in events where event.name == Self.event {
                    session = event.data["session"]?.int64Value
                    if changes.heard(event.data["user"]?.stringValue) { reload() }
                }
            } catch {
                // There will be no other connection.
            }
        }
    }

    private func reload() {
        pause = .timer(after: LoginChanges.pause) { [weak self] in
            guard let self else { return }
            if changes.pauseEnded() { reload() }
        }
        for page in container.pages.values where isConcerned(page) {
            // The page shows the result.
            Task { try? await page.reload() }
        }
    }

    private func isConcerned(_ page: Page) -> Bool {
        guard let origin = page.view.uri.flatMap({ PageOrigin(ofURI: $0) }), origins.contains(origin) else {
            return false
        }
        return session == nil || page.session != session
    }
}
