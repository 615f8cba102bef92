import BridgeJSON
import BridgeServer
import EventLoop
import Logging
import ServiceManager
import TaskHosts
import TaskRuntime

/// Gives the sessions at rest into the service manager's keeping, and goes on with those of the process before.
@LoopActor
struct SessionHandover {
    let runtime: TaskRuntime
    let server: BridgeServer
    let loader: PluginLoader
    let service: DaemonService
    let log: Logger

    /// What plugins know of the sessions.
    typealias Shares = (states: [(plugin: String, state: JSON)], failures: [(plugin: String, reason: String)])

    /// The name under which the parcel is kept: the table, and the connections behind it. One descriptor for the
    /// manager, which holds each that it gets against all that it has: 4,000 by themselves took it more than five
    /// seconds.
    private static let parcelName = "sessions"

    // MARK: Giving

    /// Asks the plugins for what they know. Before they are stopped.
    func collectShares() async -> Shares { await loader.keepSessions(runtime.sessionsAtRest) }

    /// Gives the connections at rest away. What cannot be given is closed, once it has been told why.
    func give(_ shares: Shares) {
        let providers = runtime.providers(among: Set(runtime.sessionsAtRest))
        let given = server.handOver { connections in
            if let failure = shares.failures.first {
                let reason = "the plugin \(failure.plugin) could not hand its part of the session over"
                return Self.refuse(connections, reason)
            }
            do {
                let leftOut = try give(connections, providers, shares)
                for number in leftOut {
                    log.warning("session \(number) is not handed over: \(Self.noRoom)")
                }
                return Dictionary(uniqueKeysWithValues: leftOut.map { ($0, Self.noRoom) })
            } catch {
                log.error("the sessions cannot be handed over: \(error)")
                service.forgetStored(Self.parcelName)
                return Self.refuse(connections, "the daemon could not hand the session over")
            }
        }
        log.notice("\(given.count) sessions were handed over")
    }

    private static func refuse(_ connections: [HeldConnection], _ reason: String) -> [UInt64: String] {
        Dictionary(uniqueKeysWithValues: connections.map { ($0.record.session.number, reason) })
    }

    private static let noRoom =
        "what is unread and unfinished is longer than the \(SessionTable.mostBytes) bytes for the sessions of all users"

    /// - Returns: The sessions that have no room.
    private func give(
        _ connections: [HeldConnection], _ providers: [ProviderRecord], _ shares: Shares
    ) throws -> Set<UInt64> {
        var table = SessionTable()
        table.lastSession = runtime.lastSession
        table.providers = providers
        table.plugins = shares.states
        table.retained = runtime.retainedEvents
        table.connections = connections.map(\.record)
        let (text, leftOut) = try table.text { runtime.session($0)?.peer.uid }
        let file = try MemoryFile.make(named: "trestle-sessions", content: text)
        let given = connections.filter { !leftOut.contains($0.record.session.number) }
        let parcel = try DescriptorParcel.make(of: [file.descriptor] + given.map(\.descriptor))
        try service.store(parcel.descriptor, named: Self.parcelName)
        return leftOut
    }

    // MARK: Taking

    /// Goes on with the sessions of the process before, if there are any.
    func take() async {
        guard let (file, sockets) = takeParcel() else { return forget() }
        var descriptors = sockets
        guard let table = table(in: file) else {
            for descriptor in descriptors.values {
                server.refuse(UnixSocket(adopting: descriptor), because: "nothing is known of the session any more")
            }
            return forget()
        }
        for fault in table.faults { log.error("a session is lost: \(fault)") }
        runtime.continueSessions(after: table.lastSession)
        runtime.retain(table.retained)
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

    /// The manager's copies are given up before anything that clients have sent is looked at: input that brought the
    /// daemon down must not do so again and again.
    private func forget() { service.forgetStored(Self.parcelName) }

    /// The file with the table, and the connections by what socket they are; nil: there are none.
    private func takeParcel() -> (file: Int32, connections: [UInt64: Int32])? {
        guard let inherited = service.takeStored(named: Self.parcelName) else { return nil }
        let parcel = DescriptorParcel(adopting: inherited.release())
        var file: Int32?
        var connections: [UInt64: Int32] = [:]
        do throws(SystemError) {
            try parcel.unpack { descriptor in
                if file == nil {
                    file = descriptor
                } else if let inode = UnixSocket.inode(of: descriptor), connections[inode] == nil {
                    connections[inode] = descriptor
                } else {
                    _ = UnixSocket(adopting: descriptor)  // Closed: it is no connection.
                }
            }
        } catch {
            log.error("the sessions that were handed over cannot all be taken: \(error)")
        }
        return file.map { ($0, connections) }
    }

    private func table(in descriptor: Int32) -> SessionTable? {
        let file = MemoryFile(adopting: descriptor)
        do throws(SystemError) {
            return SessionTable(reading: try file.content(limitBytes: SessionTable.mostBytes))
        } catch {
            log.error("the table of sessions cannot be read: \(error)")
            return nil
        }
    }
}
