import BridgeJSON
import BridgeServer
import EventLoop
import Logging
import ServiceManager
import TaskHosts
import TaskRuntime

/// Hands the sessions at rest to the service manager's keeping, and goes on with those of the process before.
@LoopActor
struct SessionHandover {
    let runtime: TaskRuntime
    let server: BridgeServer
    let loader: PluginLoader
    let service: DaemonService
    let log: Logger

    /// What plugins know of the sessions.
    typealias Shares = (states: [(plugin: String, state: JSON)], failures: [(plugin: String, reason: String)])

    /// The names under which the descriptors are kept. All connections share one: the names of 10,000 of them come in one
    /// variable of the environment, which may not be longer than 128 KiB.
    private static let connectionName = "c"
    private static let tableName = "t"
    private static let mostConnections = 12_000

    /// More than all that 12,000 sessions may have unread and unfinished is no table of ours.
    private static let longestTableBytes = 1 << 30

    // MARK: Giving

    /// Asks the plugins for what they know. Before they are stopped.
    func collectShares() async -> Shares { await loader.keepSessions(runtime.sessionsAtRest) }

    /// Gives the connections at rest away. What cannot be given is closed, once it has been told why.
    func give(_ shares: Shares) {
        let providers = runtime.providers(among: Set(runtime.sessionsAtRest))
        let given = server.handOver { connections in
            if let failure = shares.failures.first {
                let reason = "the plugin \(failure.plugin) could not hand its part of the session over"
                return Self.refuse(connections[...], reason)
            }
            let room = max(0, min(service.descriptorStoreLimit - 1, Self.mostConnections))
            let kept = connections.prefix(room)
            do {
                try give(kept.map(\.self), providers, shares)
            } catch {
                log.error("the sessions cannot be handed over: \(error)")
                service.forgetStored([Self.connectionName, Self.tableName])
                return Self.refuse(connections[...], "the daemon could not hand the session over")
            }
            return Self.refuse(connections.dropFirst(room), "only \(room) sessions can be handed over")
        }
        log.notice("\(given.count) sessions were handed over")
    }

    private static func refuse(_ connections: ArraySlice<HeldConnection>, _ reason: String) -> [UInt64: String] {
        Dictionary(uniqueKeysWithValues: connections.map { ($0.record.session.number, reason) })
    }

    private func give(_ connections: [HeldConnection], _ providers: [ProviderRecord], _ shares: Shares) throws {
        var table = SessionTable()
        table.lastSession = runtime.lastSession
        table.providers = providers
        table.plugins = shares.states
        table.connections = connections.map(\.record)
        let file = try MemoryFile.make(named: "trestle-sessions", content: table.text())
        try service.store(connections.map(\.descriptor), named: Self.connectionName)
        try service.store([file.descriptor], named: Self.tableName)
        try service.awaitManager()
    }

    // MARK: Taking

    /// Goes on with the sessions of the process before, if there are any.
    func take() async {
        var descriptors = takeConnections()
        guard let table = takeTable() else {
            for descriptor in descriptors.values {
                server.refuse(UnixSocket(adopting: descriptor), because: "nothing is known of the session any more")
            }
            return forget()
        }
        for fault in table.faults { log.error("a session is lost: \(fault)") }
        runtime.continueSessions(after: table.lastSession)
        var taken = 0
        for record in table.connections {
            // One whose client has gone meanwhile is not kept.
            guard let descriptor = descriptors.removeValue(forKey: record.socket) else { continue }
            do throws(SystemError) {
                try server.adopt(UnixSocket(adopting: descriptor), record)
                taken += 1
            } catch {
                log.error("the session \(record.session.number) cannot go on: \(error)")
            }
        }
        for descriptor in descriptors.values {
            server.refuse(UnixSocket(adopting: descriptor), because: "nothing is known of the session any more")
        }
        for lost in runtime.restore(table.providers) {
            log.warning(
                "session \(lost.session) provides the task \(lost.task) no more: somebody else does, or it is gone")
        }
        for (number, reason) in await loader.restoreSessions(table.plugins) {
            if let session = runtime.session(number) { runtime.end(session, because: reason) }
        }
        forget()
        server.resumeReading()
        log.notice("\(taken) sessions go on, of \(table.connections.count) that were handed over")
    }

    /// The manager's copies are given up before anything that clients have sent is looked at: input that brought the daemon
    /// down must not do so again and again.
    private func forget() { service.forgetStored([Self.connectionName, Self.tableName]) }

    /// The connections, by what socket they are.
    private func takeConnections() -> [UInt64: Int32] {
        var descriptors: [UInt64: Int32] = [:]
        while let inherited = service.takeStored(named: Self.connectionName) {
            let descriptor = inherited.release()
            let socket = UnixSocket(adopting: descriptor)
            guard let inode = UnixSocket.inode(of: descriptor), descriptors[inode] == nil else { continue }
            descriptors[inode] = socket.release()
        }
        return descriptors
    }

    private func takeTable() -> SessionTable? {
        guard let inherited = service.takeStored(named: Self.tableName) else { return nil }
        let file = MemoryFile(adopting: inherited.release())
        do throws(SystemError) {
            return SessionTable(reading: try file.content(limitBytes: Self.longestTableBytes))
        } catch {
            log.error("the table of sessions cannot be read: \(error)")
            return nil
        }
    }
}
