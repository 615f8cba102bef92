// Connections that go from one daemon to the next: their descriptors are kept by a third party meanwhile, and what the
// daemon knows of them, with what it had read and not handled, and not written yet, is told in a record.
import BridgeMessage
public import EventLoop
public import TaskRuntime

/// A connection without its descriptor. Read by daemons of other versions too: members are added and never change their
/// meaning, those that are missing have a default, and those that are not known are passed over.
public struct ConnectionRecord: Codable, Sendable, Equatable {
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

/// Bytes of any kind as JSON: a string in which each character stands for the byte of its number. Most are plain text, and
/// readable so.
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
                    in: container, debugDescription: "a character that stands for no byte")
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

    /// Hands over the connections that are at rest, in the order of their sessions.
    ///
    /// - Parameters:
    ///   - take: Gets a connection's descriptor, which it must duplicate or send away before it returns, and its record.
    ///     Nil: it has taken it, and the connection is this process's no more. Otherwise the reason why not, which the
    ///     client is told before its connection is closed.
    /// - Returns: The sessions that were handed over.
    public func handOver(_ take: (_ descriptor: Int32, _ record: ConnectionRecord) -> String?) -> [UInt64] {
        let ordered = connections.values.compactMap { connection in
            connection.session.map { (connection, $0) }
        }.sorted { $0.1.number < $1.1.number }
        var handedOver: [UInt64] = []
        for (connection, session) in ordered {
            guard runtime.isAtRest(session) else { continue }
            if let reason = connection.handOver(take) {
                runtime.end(session, because: reason)
            } else {
                handedOver.append(session.number)
                connections[ObjectIdentifier(connection)] = nil
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
        let connection = Connection(stream, server: self)
        connections[ObjectIdentifier(connection)] = connection
        connection.resume(record, PeerIdentity(uid: peer.uid, gid: peer.gid, pid: peer.pid))
    }

    /// The connections that were adopted are read on, beginning with what the daemon before had not handled.
    public func resumeReading() {
        for connection in connections.values { connection.endHold() }
    }
}
