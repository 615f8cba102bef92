import BridgeJSON
import BridgeServer
import EventLoop
import Logging
import ServiceManager
import TaskHosts
import TaskRuntime

/// Stores the sessions at rest in the service manager, and continues the sessions of the previous process.
@LoopActor
struct SessionHandover {
    let runtime: TaskRuntime
    let server: BridgeServer
    let loader: PluginLoader
    let service: DaemonService
    let log: Logger

    /// The maximum size in bytes of the table of all sessions.
    let maximumBytes: Int

    /// The name under which the parcel is stored: the table and the connections in it. It is a single descriptor,
    /// because the manager compares each new descriptor with all that it has: 4,000 single descriptors took it more
    /// than five seconds.
    private static let parcelName = "sessions"

    // MARK: Storing

    /// Collects the plugins' states of the sessions. Must be called before the plugins are stopped.
    func collectShares() async -> KeptSessions { await loader.saveSessions(runtime.sessionsAtRest) }

    /// Hands over the connections at rest. Closes those that cannot be handed over, after a message with the reason.
    func give(_ shares: KeptSessions) {
        for lost in shares.lost {
            note(lost.session, "the plugin \(lost.plugin) cannot hand its part over: \(lost.reason)")
        }
        let lost = Dictionary(
            shares.lost.map { ($0.session, "the plugin \($0.plugin) could not hand its part of the session over") },
            uniquingKeysWith: { first, _ in first })
        let given = server.handOver { connections in
            let kept = connections.filter { lost[$0.record.session.number] == nil }
            do {
                let leftOut = try give(kept, shares)
                for number in leftOut.sorted() { note(number, noRoom) }
                return lost.merging(leftOut.map { ($0, noRoom) }) { first, _ in first }
            } catch {
                log.error("the sessions cannot be handed over: \(error)")
                service.forgetStored(Self.parcelName)
                let reason = "the daemon could not hand the session over"
                return lost.merging(kept.map { ($0.record.session.number, reason) }) { first, _ in first }
            }
        }
        log.notice("\(given.count) sessions were handed over")
    }

    private func note(_ session: UInt64, _ reason: String) {
        log.warning("the session is not handed over: \(reason)", metadata: runtime.session(session)?.logMetadata)
    }

    private var noRoom: String {
        "the unread and unfinished messages exceed limits.handover_bytes (\(maximumBytes) bytes for all users)"
    }

    /// Stores the sessions.
    ///
    /// - Returns: The sessions for which there is no room.
    private func give(_ connections: [HeldConnection], _ shares: KeptSessions) throws -> Set<UInt64> {
        var table = SessionTable()
        table.lastSession = runtime.lastSession
        table.providers = runtime.providers(among: Set(connections.map(\.record.session.number)))
        table.plugins = shares.states
        table.retained = runtime.retainedEvents
        table.connections = connections.map(\.record)
        let (text, leftOut) = try table.text(atMost: maximumBytes) { runtime.session($0)?.peer.uid }
        let file = try MemoryFile.make(named: "trestle-sessions", content: text)
        let given = connections.filter { !leftOut.contains($0.record.session.number) }
        let parcel = try DescriptorBundle.make(of: [file.descriptor] + given.map(\.descriptor))
        try service.store(parcel.descriptor, named: Self.parcelName)
        return leftOut
    }

    // MARK: Taking over

    /// Continues the sessions of the previous process, if there are any.
    func take() async {
        guard let (file, sockets) = takeParcel() else { return forget() }
        var descriptors = sockets
        guard let table = table(in: file) else {
            for descriptor in descriptors.values {
                server.refuse(UnixSocket(adopting: descriptor), because: "the session is no longer known")
            }
            return forget()
        }
        for fault in table.faults { log.error("a session is lost: \(fault)") }
        runtime.continueSessions(after: table.lastSession)
        runtime.retain(table.retained)
        var taken = 0
        for record in table.connections {
            // A connection whose client has disconnected meanwhile is not continued.
            guard let descriptor = descriptors.removeValue(forKey: record.socket) else { continue }
            do throws(SystemError) {
                try server.adopt(UnixSocket(adopting: descriptor), record)
                taken += 1
            } catch {
                log.error("the session \(record.session.number) cannot continue: \(error)")
            }
        }
        for descriptor in descriptors.values {
            server.refuse(UnixSocket(adopting: descriptor), because: "the session is no longer known")
        }
        for lost in runtime.restore(table.providers) {
            log.warning(
                """
                session \(lost.session) no longer provides the task \(lost.task): another session provides it, or the \
                task does not exist any more
                """
            )
        }
        for (number, reason) in await loader.restoreSessions(table.plugins) {
            if let session = runtime.session(number) { runtime.end(session, because: reason) }
        }
        forget()
        server.resumeReading()
        log.notice("\(taken) sessions continue, of \(table.connections.count) that were handed over")
    }

    /// Removes the manager's copies before any input of clients is processed: input that crashes the daemon must not
    /// crash it again after each restart.
    private func forget() { service.forgetStored(Self.parcelName) }

    /// Returns the file with the table, and the connections by the inodes of their sockets; `nil` if there are none.
    private func takeParcel() -> (file: Int32, connections: [UInt64: Int32])? {
        guard let inherited = service.takeStored(named: Self.parcelName) else { return nil }
        let parcel = DescriptorBundle(adopting: inherited.release())
        var file: Int32?
        var connections: [UInt64: Int32] = [:]
        do throws(SystemError) {
            try parcel.unpack { descriptor in
                if file == nil {
                    file = descriptor
                } else if let inode = UnixSocket.inode(of: descriptor), connections[inode] == nil {
                    connections[inode] = descriptor
                } else {
                    _ = UnixSocket(adopting: descriptor)  // Closes it: it is not a connection.
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
            return SessionTable(reading: try file.content(limitBytes: SessionTable.maximumBytes))
        } catch {
            log.error("the table of sessions cannot be read: \(error)")
            return nil
        }
    }
}
