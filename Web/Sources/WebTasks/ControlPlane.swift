// WebTasks: the tasks web.… by which the daemon's clients use the pages, and what others hear of these.
public import BridgeClient
internal import BridgeJSON
internal import Glibc
public import LaunchWorkers
public import WebContainer
public import WebProfiles

/// The container's own connection to the daemon: tasks, events, panels.
@MainActor
public final class ControlPlane {
    /// Events that wait for the daemon; beyond, the oldest are dropped.
    private static let maximumWaitingEvents = 256

    let bridge: Bridge
    let container: Container
    private let pageTasks: Set<String>
    /// Keeps the engine's cookies and the daemon's equal; nil: they are the engine's own.
    let replica: CookieReplica?
    /// What became of the launch workers so far.
    let launch: @MainActor () -> [LaunchReport]

    /// Uses a connection for a container.
    ///
    /// - Parameters:
    ///   - bridge: The connection.
    ///   - container: The container.
    ///   - profile: Which tasks pages may call, which events are published, and who answers panels.
    ///   - replica: What keeps the engine's cookies and the daemon's equal; nil: they are the engine's own.
    ///   - launch: Returns what became of the launch workers so far.
    public init(
        _ bridge: Bridge, _ container: Container, _ profile: Profile, _ replica: CookieReplica? = nil,
        launch: @escaping @MainActor () -> [LaunchReport]
    ) {
        self.launch = launch
        self.replica = replica
        self.bridge = bridge
        self.container = container
        pageTasks = Set(profile.pageTasks)
        publish(profile.events)
        container.onCredentials = { try? await bridge.call("ui.credentials", $0, as: JSON.self) }
        container.onPanel = { try? await bridge.call("Alert", $0, as: JSON.self) }
    }

    private func publish(_ patterns: [String]) {
        let (events, writer) = AsyncStream.makeStream(
            of: ContainerEvent.self, bufferingPolicy: .bufferingNewest(Self.maximumWaitingEvents))
        container.onEvent = { event in
            if patterns.contains(where: { ContainerEvent.matches($0, event.name) }) { writer.yield(event) }
        }
        Task { [bridge] in
            // One that the daemon does not take is lost, as for every publisher.
            for await event in events { try? await bridge.publish(event.name, event.data) }
        }
    }

    /// Ends the connection after the calls of the tasks: those that have come are answered.
    public func finish() async { await bridge.finish() }

    // MARK: Who may

    /// Lets the container's own user in; a page only where the profile names the task, and only about itself.
    ///
    /// - Throws: `permission.denied`.
    func admit(_ call: IncomingCall) throws(BridgeError) {
        guard call.caller.origin != "local" || call.caller.uid != geteuid() else { return }
        if pageTasks.contains(call.task), page(of: call) != nil { return }
        throw BridgeError(
            .permissionDenied, "\(call.task) is for local programs of the container's user",
            data: ["rule": "tasks.pages of the container's profile"])
    }

    /// The page that calls; nil: it is none of this container's.
    private func page(of call: IncomingCall) -> Page? {
        guard call.caller.uid == geteuid(), call.caller.origin != "local" else { return nil }
        let session = call.caller.session
        return container.pages.values.first { $0.session.map { SessionID($0) == session } ?? false }
    }

    /// The page that a call is about: a page's own, else the one that is named, else the only one.
    ///
    /// - Throws: `view.not_found`, `permission.denied`.
    func page(_ number: Int?, _ call: IncomingCall) throws(BridgeError) -> Page {
        try admit(call)
        if let own = page(of: call) {
            guard number == nil || number == own.number else {
                throw BridgeError(.permissionDenied, "a page may call \(call.task) about itself alone")
            }
            return own
        }
        if let number {
            guard let page = container.pages[number] else {
                throw BridgeError("view.not_found", "there is no view \(number); web.views lists them")
            }
            return page
        }
        guard container.pages.count == 1, let page = container.pages.values.first else {
            throw BridgeError("view.not_found", "there are \(container.pages.count) views; name one as `view`")
        }
        return page
    }
}
