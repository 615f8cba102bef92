public import BridgeClient
public import BridgeJSON
internal import MainLoop
public import WebContainer
internal import WebKitViews
public import WebProfiles

/// Loads pages again when another user has logged in at the daemon, or out.
@MainActor
public final class LoginReloads {
    private static let event = "login.changed"

    private let bridge: Bridge
    private let container: Container
    private let origins: Set<PageOrigin>
    private var changes = LoginChanges()
    /// The session that logged in or out last. Its page has done so by itself.
    private var session: Int64?
    private var pause: LoopSource?

    /// Reloads pages of some origins.
    ///
    /// - Parameters:
    ///   - bridge: The connection to the daemon.
    ///   - container: The pages.
    ///   - origins: Whose pages are loaded again.
    public init(_ bridge: Bridge, _ container: Container, _ origins: [PageOrigin]) {
        self.bridge = bridge
        self.container = container
        self.origins = Set(origins)
    }

    /// Begins to listen. The listener keeps this object for as long as the connection.
    ///
    /// - Throws: What the daemon says.
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
            // What comes of it, the page shows.
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
