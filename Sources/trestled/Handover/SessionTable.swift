// Handover/: what goes from one process of the daemon to the next when it is restarted or replaced by another version:
// the descriptors of the connections, and that of a file in memory with the table of what is known of them. All of them
// lie in the queue of one socket meanwhile, and the service manager keeps that socket.
import BridgeJSON
import BridgeServer
import TaskRuntime

/// Everything that the next process has to know of the sessions, beside their descriptors.
///
/// As lines of JSON: a line for each plugin's share, for each retained event, and for each connection, and a head.
/// Processes of other versions read it, older ones too when an upgrade is undone: members and kinds of lines are added
/// and never change their meaning; what is not known is passed over, and a line that makes no sense costs no more than
/// itself.
struct SessionTable {
    /// The number of the last session that was opened.
    var lastSession: UInt64 = 0
    /// Who provides what, the newest last.
    var providers: [ProviderRecord] = []
    /// What plugins know of sessions, by the plugins' names.
    var plugins: [(plugin: String, state: JSON)] = []
    var connections: [ConnectionRecord] = []
    /// Events that are kept for those who subscribe later.
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

    /// One line: one of the members.
    private struct Line: Codable {
        var sessions: Head?
        var share: PluginShare?
        var connection: ConnectionRecord?
        var retained: RetainedEvent?
    }

    init() {}

    // MARK: Text

    /// The longest table, for who writes one and for who reads one: more than thousands of sessions have unread and
    /// unfinished.
    static let maximumBytes = 1 << 30

    /// The text of the table, at most as long as it may be. Sessions that have no room in it are left out, with what
    /// plugins know of them.
    ///
    /// - Parameters:
    ///   - maximumBytes: The longest text.
    ///   - user: Whose session it is, by its number.
    /// - Returns: The text, and the numbers of the sessions that are not in it.
    /// - Throws: ``JSONEncodingError``, which nothing in here gives rise to; ``TooLong``, where there is no room even
    ///   for what sessions have in common.
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
            // Too much already: from here on the sizes alone are wanted.
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

    /// How much of the plugins' shares is about each session.
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

    /// The plugins' shares as far as they are about these sessions.
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

    /// There is no room for what sessions have in common.
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

    /// Which sessions have no room. Where not all have, each user has an equal share, and of a user's sessions the
    /// shortest go first: no user's unread messages cost others their sessions.
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

    /// Reads what a process of the daemon wrote, whatever its version.
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
