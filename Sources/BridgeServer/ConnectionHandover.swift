// The handover of connections from one daemon to the next. The service manager keeps their descriptors meanwhile. The
// daemon's state of a connection, including unhandled input and unwritten output, is in a record.
import BridgeJSON
import BridgeMessage
public import EventLoop
public import TaskRuntime

/// A connection without its descriptor. Daemons of other versions read it too: members may be added but never change
/// their meaning, missing members have a default, and unknown members are ignored.
public struct ConnectionRecord: Codable, Sendable, Equatable {
    /// The inode of the socket, equal for every descriptor of it in any process.
    public var socket: UInt64
    /// The connection's session.
    public var session: SessionRecord
    /// The whole lines that were read and not handled; `nil` for none.
    public var input: HandoverBytes?
    /// The beginning of a line that was read after those; `nil` for none.
    public var unfinishedLine: HandoverBytes?
    /// The length of that line so far, if it was too long and only its beginning was kept; `nil` otherwise.
    public var discardedBytes: Int?
    /// The unwritten output; `nil` for none.
    public var output: HandoverBytes?
}

/// A connection to be handed over.
public struct HeldConnection {
    /// The connection's descriptor, which the connection still owns.
    public let descriptor: Int32
    /// The rest of the connection's state.
    public let record: ConnectionRecord
}

/// Arbitrary bytes as JSON: a string in which each character represents the byte of its code point. Most contents are
/// plain text and readable in this form.
public struct HandoverBytes: Codable, Sendable, Equatable {
    /// The bytes.
    public var bytes: [UInt8]

    /// `nil` if there are none.
    init?(_ bytes: [UInt8]) {
        if bytes.isEmpty { return nil }
        self.bytes = bytes
    }

    /// Decodes the bytes from such a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        bytes = try container.decode(String.self).unicodeScalars.map { scalar in
            guard let byte = UInt8(exactly: scalar.value) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a character that is not a byte")
            }
            return byte
        }
    }

    /// Encodes the bytes as such a string.
    public func encode(to encoder: any Encoder) throws {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        var container = encoder.singleValueContainer()
        try container.encode(String(text))
    }
}

extension BridgeServer {
    /// Stops reading: input waits in the clients' sockets for the next daemon. Only sessions that work on calls of
    /// others are still read, because these calls could not end otherwise.
    public func hold() {
        for connection in connections.values { connection.hold() }
    }

    /// Hands over the connections that are at rest, in the order of their sessions. The loop does nothing else
    /// meanwhile.
    ///
    /// - Parameter take: Receives the connections. Their descriptors are closed after it has returned, so it must
    ///   duplicate or send them before. Returns the refused sessions, each with the reason that the client gets before
    ///   its connection is closed.
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

    /// Continues a connection of the previous daemon. Nothing is read before ``resumeReading()``.
    ///
    /// - Throws: ``SystemError`` if the descriptor is not a connection.
    public func adopt(_ socket: consuming UnixSocket, _ record: ConnectionRecord) throws(SystemError) {
        let stream = try UnixStream(adopting: socket)
        let peer = stream.peer
        let connection = Connection(stream, user: scheduler.add(.uid(peer.uid)), server: self)
        connections[ObjectIdentifier(connection)] = connection
        connection.resume(record, PeerIdentity(peer))
    }

    /// Closes a connection of the previous daemon that cannot continue, after a message with the reason.
    public func refuse(_ socket: consuming UnixSocket, because reason: String) {
        let output = OutputBuffer()
        let data: JSON = ["reason": .string(reason)]
        data.bytes.withUnsafeBytes { MessageEncoder.event(name: "session.lost", data: $0, to: output) }
        // `try?`: a descriptor that is not a connection can get no message.
        guard let stream = try? UnixStream(adopting: socket) else { return }
        _ = stream.write(output.bytes)
        stream.close()
    }

    /// Resumes reading from the adopted connections, beginning with the input that the previous daemon had not handled.
    public func resumeReading() {
        for connection in connections.values { connection.endHold() }
    }
}

extension Connection {
    /// Stops reading, unless the session works on calls of others.
    func hold() {
        guard !isClosed, !closesWhenWritten, let session, !runtime.isProviding(session) else { return }
        isHeld = true
        isPaused = true
        stream.stopReading()
    }

    /// Resumes reading because the session has begun to work on a call of another client: one that was being checked,
    /// or one from a plugin. Not synchronously: another connection's line may be at work.
    func readOn() { EventLoop.post { self.endHold() } }

    /// Handles the read input, and resumes reading.
    func endHold() {
        guard isHeld else { return }
        isHeld = false
        guard !isYielding, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) { server.watchStalled() } else { resumeInput() }
    }

    /// Writes as much as the socket accepts, and returns the rest. Nothing is read or handled from here on.
    ///
    /// - Returns: The connection; `nil` if it has just ended.
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

    /// Closes the descriptor: another process has the connection, and this process no longer uses it.
    func finishHandover() {
        isClosed = true
        stream.close()
    }

    /// Restores the state of the connection that was handed over.
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
