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

    /// What sessions may have unread and unfinished, together.
    let maximumBytes: Int

    /// The name under which the parcel is kept: the table, and the connections behind it. One descriptor for the
    /// manager, which holds each that it gets against all that it has: 4,000 by themselves took it more than five
    /// seconds.
    private static let parcelName = "sessions"

    // MARK: Giving

    /// Asks the plugins for what they know. Before they are stopped.
    func collectShares() async -> KeptSessions { await loader.saveSessions(runtime.sessionsAtRest) }

    /// Gives the connections at rest away. What cannot be given is closed after a message that says why.
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
        "what is unread and unfinished is longer than the \(maximumBytes) bytes for the sessions of all users"
    }

    /// - Returns: The sessions that have no room.
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

    // MARK: Taking

    /// Goes on with the sessions of the process before, if there are any.
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
            // One whose client has gone meanwhile is not kept.
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
                session \(lost.session) no longer provides the task \(lost.task): another session provides it, or it is \
                gone
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

    /// The manager's copies are given up before anything that clients have sent is looked at: input that brought the
    /// daemon down must not do so again and again.
    private func forget() { service.forgetStored(Self.parcelName) }

    /// The file with the table, and the connections by what socket they are; nil: there are none.
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
            return SessionTable(reading: try file.content(limitBytes: SessionTable.maximumBytes))
        } catch {
            log.error("the table of sessions cannot be read: \(error)")
            return nil
        }
    }
}
