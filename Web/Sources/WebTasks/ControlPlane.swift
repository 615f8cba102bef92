// WebTasks: the tasks web.… with which the daemon's clients use the pages, and the events about these.
public import BridgeClient
internal import BridgeJSON
internal import Glibc
public import LaunchWorkers
public import WebContainer
public import WebProfiles

/// The container's own connection to the daemon: tasks, events, panels.
@MainActor
public final class ControlPlane {
    let bridge: Bridge
    let container: Container
    private let pageTasks: Set<String>
    /// The events that wait for the daemon.
    let events: EventQueue
    /// Keeps the engine's cookies and the daemon's equal; `nil` if the engine has cookies of its own.
    let replica: CookieReplica?
    /// Returns the results of the launch workers so far.
    let launch: @MainActor () -> [LaunchReport]

    /// Creates the control plane of a container.
    ///
    /// - Parameters:
    ///   - bridge: The connection.
    ///   - container: The container.
    ///   - profile: The profile, with the tasks that pages may call and the events that are published.
    ///   - replica: Keeps the engine's cookies and the daemon's equal; `nil` if the engine has cookies of its own.
    ///   - launch: Returns the results of the launch workers so far.
    public init(
        _ bridge: Bridge, _ container: Container, _ profile: Profile, _ replica: CookieReplica? = nil,
        launch: @escaping @MainActor () -> [LaunchReport]
    ) {
        self.launch = launch
        self.replica = replica
        self.bridge = bridge
        self.container = container
        pageTasks = Set(profile.pageTasks)
        // An event that the daemon refuses is lost, as for every publisher.
        events = EventQueue { try? await bridge.publish($0.name, $0.data) }
        publish(profile.events)
        container.onCredentials = { try? await bridge.call("ui.credentials", $0, as: JSON.self) }
        container.onPanel = { try? await bridge.call("Alert", $0, as: JSON.self) }
    }

    private func publish(_ patterns: [String]) {
        container.onEvent = { [events] event in
            if patterns.contains(where: { ContainerEvent.matches($0, event.name) }) { events.add(event) }
        }
    }

    /// Ends the connection after the calls of the tasks: calls that have arrived are answered.
    public func finish() async { await bridge.finish() }

    // MARK: Permissions

    /// Admits calls of the container's own user. A page is admitted only if the profile names the task. Tasks that act
    /// on a page then admit only this page; other tasks act on the whole container.
    ///
    /// - Throws: `permission.denied`.
    func admit(_ call: IncomingCall) throws(BridgeError) {
        guard call.caller.origin != "local" || call.caller.uid != geteuid() else { return }
        if pageTasks.contains(call.task), page(of: call) != nil { return }
        throw BridgeError(
            .permissionDenied, "\(call.task) is for local programs of the container's user",
            data: ["rule": "tasks.pages of the container's profile"])
    }

    /// Returns the calling page; `nil` if the caller is not a page of this container.
    private func page(of call: IncomingCall) -> Page? {
        guard call.caller.uid == geteuid(), call.caller.origin != "local" else { return nil }
        let session = call.caller.session
        return container.pages.values.first { $0.session.map { SessionID($0) == session } ?? false }
    }

    /// Returns the page that a call refers to: the calling page, else the page that is named, else the only one.
    ///
    /// - Throws: `view.not_found`, `permission.denied`.
    func page(_ number: Int?, _ call: IncomingCall) throws(BridgeError) -> Page {
        try admit(call)
        if let own = page(of: call) {
            guard number == nil || number == own.number else {
                throw BridgeError(.permissionDenied, "a page may call \(call.task) only for itself")
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
