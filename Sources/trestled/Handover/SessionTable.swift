// Handover/: the data that one process of the daemon passes to the next when it is restarted or replaced by another
// version: the descriptors of the connections, and a memory file with the table of their sessions. In between, all of
// them are in the queue of one socket, and the service manager stores that socket.
import BridgeJSON
import BridgeServer
import TaskRuntime

/// Everything that the next process needs about the sessions, besides their descriptors.
///
/// The text consists of JSON lines: one for each plugin's share, for each retained event and for each connection, and a
/// head. Other versions read it, also older ones after a downgrade. Therefore members and kinds of lines are only added
/// and never change their meaning. Unknown ones are ignored, and an unreadable line affects only itself.
struct SessionTable {
    /// The number of the last session that was opened.
    var lastSession: UInt64 = 0
    /// The providers of tasks, the newest last.
    var providers: [ProviderRecord] = []
    /// The plugins' states of sessions, by the plugins' names.
    var plugins: [(plugin: String, state: JSON)] = []
    var connections: [ConnectionRecord] = []
    /// Events that are retained for later subscribers.
    var retained: [RetainedEvent] = []
    /// Lines that could not be read, with the reason.
    private(set) var faults: [String] = []

    private struct Head: Codable {
        var lastSession: UInt64?
        var providers: [ProviderRecord]?
    }

    private struct PluginShare: Codable {
        var plugin: String
        var state: JSON
    }

    /// A line: exactly one member is set.
    private struct Line: Codable {
        var sessions: Head?
        var share: PluginShare?
        var connection: ConnectionRecord?
        var retained: RetainedEvent?
    }

    init() {}

    // MARK: Text

    /// The maximum size of a table in bytes, for writing and reading. It exceeds the unread and unfinished data of
    /// thousands of sessions.
    static let maximumBytes = 1 << 30

    /// Returns the text of the table. Sessions for which there is no room are left out, together with the plugins'
    /// states of them.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum size of the text in bytes.
    ///   - user: Returns the user of a session, by the session's number.
    /// - Returns: The text, and the numbers of the sessions that are not in it.
    /// - Throws: ``JSONEncodingError``, which does not occur with these values; ``TooLong`` if there is no room for the
    ///   common part.
    func text(
        atMost maximumBytes: Int = Self.maximumBytes, user: (UInt64) -> UInt32?
    ) throws -> (text: [UInt8], leftOut: Set<UInt64>) {
        var text: [UInt8] = []
        for event in retained { try append(Line(retained: event), to: &text) }
        let commonBytes = text.count
        let othersBytes = try shares(of: []).count + (try head(without: [])).count
        let roomBytes = maximumBytes - commonBytes - othersBytes
        guard roomBytes >= 0 else { throw TooLong(maximumBytes: maximumBytes) }
        let knownBytes = knownBytes
        var sizes: [Int] = []
        for connection in connections {
            let start = text.count
            try append(Line(connection: connection), to: &text)
            sizes.append(text.count - start + knownBytes[connection.session.number, default: 0])
            // Over the limit already: from here on only the sizes are needed.
            if text.count - commonBytes > roomBytes { text.removeLast(text.count - commonBytes) }
        }
        let leftOut = leftOut(sizes, roomBytes: roomBytes, user)
        if !leftOut.isEmpty {
            text.removeLast(text.count - commonBytes)
            for connection in connections where !leftOut.contains(connection.session.number) {
                try append(Line(connection: connection), to: &text)
            }
        }
        text += try shares(of: Set(connections.map(\.session.number)).subtracting(leftOut))
        text += try head(without: leftOut)
        return (text, leftOut)
    }

    /// The size of the plugins' states of each session in bytes.
    private var knownBytes: [UInt64: Int] {
        var bytes: [UInt64: Int] = [:]
        for (_, state) in plugins {
            for (number, known) in state["states"]?.objectValue ?? [:] {
                guard let session = UInt64(number) else { continue }
                // With quotes, colon and comma.
                bytes[session, default: 0] += number.utf8.count + known.bytes.count + 4
            }
        }
        return bytes
    }

    /// Returns the plugins' shares, restricted to these sessions.
    private func shares(of sessions: Set<UInt64>) throws(JSONEncodingError) -> [UInt8] {
        var text: [UInt8] = []
        for (plugin, state) in plugins {
            guard var share = state.objectValue else { continue }
            var states = JSONObject()
            for (number, known) in share["states"]?.objectValue ?? [:] {
                if let session = UInt64(number), sessions.contains(session) { states[number] = known }
            }
            share["states"] = .object(states)
            try append(Line(share: PluginShare(plugin: plugin, state: .object(share))), to: &text)
        }
        return text
    }

    /// The error that there is no room for the common part.
    struct TooLong: Error, CustomStringConvertible {
        var maximumBytes: Int

        var description: String { "what plugins and providers have to hand over is longer than \(maximumBytes) bytes" }
    }

    private func head(without leftOut: Set<UInt64>) throws(JSONEncodingError) -> [UInt8] {
        let providers = leftOut.isEmpty ? providers : providers.filter { !leftOut.contains($0.session) }
        var text: [UInt8] = []
        try append(Line(sessions: Head(lastSession: lastSession, providers: providers)), to: &text)
        return text
    }

    /// Returns the sessions for which there is no room. If not all fit, each user has an equal share, and a user's
    /// shortest sessions are taken first. The unread messages of one user therefore do not cost other users their
    /// sessions.
    private func leftOut(_ sizes: [Int], roomBytes: Int, _ user: (UInt64) -> UInt32?) -> Set<UInt64> {
        guard sizes.reduce(0, +) > roomBytes else { return [] }
        let bySize = zip(connections.map(\.session.number), sizes).sorted { $0.1 < $1.1 }
        let users = Dictionary(grouping: bySize) { user($0.0) }
        let shareBytes = roomBytes / users.count
        var leftOut: Set<UInt64> = []
        for sessions in users.values {
            var usedBytes = 0
            for (number, bytes) in sessions {
                usedBytes += bytes
                if usedBytes > shareBytes { leftOut.insert(number) }
            }
        }
        return leftOut
    }

    private func append(_ line: Line, to text: inout [UInt8]) throws(JSONEncodingError) {
        try JSONCoding.encode(line, to: &text)
        text.append(UInt8(ascii: "\n"))
    }

    /// Parses the text of a daemon process of any version.
    init(reading text: [UInt8]) {
        for (index, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
            do throws(JSONMismatch) {
                let line = try Self.line(Array(line))
                if let head = line.sessions {
                    lastSession = head.lastSession ?? 0
                    providers = head.providers ?? []
                }
                if let share = line.share { plugins.append((share.plugin, share.state)) }
                if let event = line.retained { retained.append(event) }
                if let connection = line.connection { connections.append(connection) }
            } catch {
                faults.append("line \(index + 1) of the table of sessions: \(error)")
            }
        }
    }

    private static func line(_ bytes: [UInt8]) throws(JSONMismatch) -> Line {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONMismatch) in try JSONCoding.decode(Line.self, from: bytes) }
        }
        return try result.get()
    }
}
