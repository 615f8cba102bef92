// Connections that go from one daemon to the next: their descriptors are kept by a third party meanwhile, and what the
// daemon knows of them, with what it had read and not handled, and not written yet, is in a record.
import BridgeJSON
import BridgeMessage
public import EventLoop
public import TaskRuntime

/// A connection without its descriptor. Read by daemons of other versions too: members are added and never change their
/// meaning, those that are missing have a default, and those that are not known are passed over.
public struct ConnectionRecord: Codable, Sendable, Equatable {
    /// Which socket it is: its inode, the same for every descriptor of it, in whatever process.
    public var socket: UInt64
    /// Its session.
    public var session: SessionRecord
    /// Whole lines that were read and not handled.
    public var input: HandoverBytes?
    /// The beginning of a line that was read, behind those.
    public var unfinishedLine: HandoverBytes?
    /// The length of that line so far, where it was too long and only its beginning was kept.
    public var discardedBytes: Int?
    /// What was not written yet.
    public var output: HandoverBytes?
}

/// A connection that is to be handed over.
public struct HeldConnection {
    /// Its descriptor, which stays the connection's.
    public let descriptor: Int32
    /// Everything else.
    public let record: ConnectionRecord
}

/// Bytes of any kind as JSON: a string in which each character stands for the byte of its number. Most are plain text,
/// and readable so.
public struct HandoverBytes: Codable, Sendable, Equatable {
    /// The bytes.
    public var bytes: [UInt8]

    /// Nil where there are none.
    init?(_ bytes: [UInt8]) {
        if bytes.isEmpty { return nil }
        self.bytes = bytes
    }

    /// Reads such a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        bytes = try container.decode(String.self).unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a character that is no byte")
            }
            return byte
        }
    }

    /// Writes such a string.
    public func encode(to encoder: any Encoder) throws {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        var container = encoder.singleValueContainer()
        try container.encode(String(text))
    }
}

extension BridgeServer {
    /// From now on nothing more is read: what clients send waits in their sockets for the next daemon. Only those that
    /// work on others' calls are read on, for these could not end otherwise.
    public func hold() {
        for connection in connections.values { connection.hold() }
    }

    /// Hands over the connections that are at rest, in the order of their sessions. The loop does nothing else
    /// meanwhile.
    ///
    /// - Parameter take: Gets the connections. What it wants of their descriptors, which are closed after it has
    ///   returned, it must have duplicated or sent away by then. Returns the sessions that it has not taken, each with
    ///   the reason, which the client gets before its connection is closed too.
    /// - Returns: The sessions that were handed over.
    public func handOver(_ take: (_ connections: [HeldConnection]) -> [UInt64: String]) -> [UInt64] {
        let resting = connections.values.filter { connection in
            connection.session.map { runtime.isAtRest($0) } == true && connection.lineAtWork?.answers == nil
        }
        var offered: [(connection: Connection, held: HeldConnection)] = []
        for connection in resting {
            if let held = connection.prepareHandover() { offered.append((connection, held)) }
        }
        offered.sort { $0.held.record.session.number < $1.held.record.session.number }
        let refused = take(offered.map(\.held))
        var handedOver: [UInt64] = []
        for (connection, held) in offered {
            let number = held.record.session.number
            if let reason = refused[number] {
                if let session = connection.session { runtime.end(session, because: reason) }
            } else {
                handedOver.append(number)
                connection.finishHandover()
                connections[ObjectIdentifier(connection)] = nil
                scheduler.remove(connection.user)
            }
        }
        return handedOver
    }

    /// Goes on with a connection of the daemon before. Nothing is read before ``resumeReading()``.
    ///
    /// - Throws: ``SystemError`` where the descriptor is no connection.
    public func adopt(_ socket: consuming UnixSocket, _ record: ConnectionRecord) throws(SystemError) {
        let stream = try UnixStream(adopting: socket)
        let peer = stream.peer
        let connection = Connection(stream, user: scheduler.add(.uid(peer.uid)), server: self)
        connections[ObjectIdentifier(connection)] = connection
        connection.resume(record, PeerIdentity(peer))
    }

    /// Closes a connection of the daemon before that cannot go on, after a message that says why.
    public func refuse(_ socket: consuming UnixSocket, because reason: String) {
        let output = OutputBuffer()
        let data: JSON = ["reason": .string(reason)]
        data.bytes.withUnsafeBytes { MessageEncoder.event(name: "session.lost", data: $0, to: output) }
        // `try?`: what is no connection can get no message.
        guard let stream = try? UnixStream(adopting: socket) else { return }
        _ = stream.write(output.bytes)
        stream.close()
    }

    /// The connections that were adopted are read on, beginning with what the daemon before had not handled.
    public func resumeReading() {
        for connection in connections.values { connection.endHold() }
    }
}

extension Connection {
    /// Reads nothing more, unless the session works on others' calls.
    func hold() {
        guard !isClosed, !closesWhenWritten, let session, !runtime.isProviding(session) else { return }
        isHeld = true
        isPaused = true
        stream.stopReading()
    }

    /// The session has begun to work on another's call: one that was being checked, or that a plugin has made.
    /// Not here and now: another connection's line may be at work.
    func readOn() { EventLoop.post { self.endHold() } }

    /// Handles what was read, and reads on.
    func endHold() {
        guard isHeld else { return }
        isHeld = false
        guard !isYielding, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) { server.watchStalled() } else { resumeInput() }
    }

    /// Writes what the socket takes, and returns the rest. Nothing is read or handled from here on.
    ///
    /// - Returns: Nil: the connection has just ended.
    func prepareHandover() -> HeldConnection? {
        guard !isClosed, !closesWhenWritten, let session else { return nil }
        isHeld = true
        isPaused = true
        stream.stopReading()
        let sessionRecord = runtime.record(of: session)
        writeOutput()
        guard !isClosed, let socket = stream.inode else { return nil }
        let line = splitter.unfinished
        return HeldConnection(
            descriptor: stream.descriptor,
            record: ConnectionRecord(
                socket: socket, session: sessionRecord,
                input: HandoverBytes((lineAtWork?.rest ?? []) + pendingInput.copy),
                unfinishedLine: HandoverBytes(line.bytes), discardedBytes: line.discardedBytes,
                output: HandoverBytes(session.output.copy())))
    }

    /// Another process has the connection: nothing of this process touches it any longer.
    func finishHandover() {
        isClosed = true
        stream.close()
    }

    /// Takes the place of the connection that was handed over.
    func resume(_ record: ConnectionRecord, _ peer: PeerIdentity) {
        isHeld = true
        isPaused = true
        pendingInput = HeldInput(record.input?.bytes ?? [])
        splitter.resume(
            UnfinishedLine(bytes: record.unfinishedLine?.bytes ?? [], discardedBytes: record.discardedBytes))
        stream.delegate = self
        let session = runtime.resume(record.session, peer: peer, transport: self)
        self.session = session
        unownedSession = .passUnretained(session)
        guard let output = record.output?.bytes else { return }
        output.withUnsafeBytes { session.output.append($0) }
        runtime.markDirty(session)
    }
}
