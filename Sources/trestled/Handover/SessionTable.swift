// Handover/: what goes from one process of the daemon to the next when it is restarted or replaced by another version: the
// descriptors of the connections, and that of a file in memory with the table of what is known of them. All of them lie in
// the queue of one socket meanwhile, and the service manager keeps that socket.
import BridgeJSON
import BridgeServer
import TaskRuntime

/// Everything that the next process has to know of the sessions, beside their descriptors.
///
/// As lines of JSON: a head, then a line for each plugin's share, for each retained event, and for each connection. Processes
/// of other versions read it, older ones too when an upgrade is undone: members and kinds of lines are added and never change
/// their meaning; what is not known is passed over, and a line that makes no sense costs no more than itself.
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

    /// - Throws: ``JSONEncodingError``, which nothing in here gives rise to.
    func text() throws(JSONEncodingError) -> [UInt8] {
        var text: [UInt8] = []
        try append(Line(sessions: Head(lastSession: lastSession, providers: providers)), to: &text)
        for (plugin, state) in plugins {
            try append(Line(share: PluginShare(plugin: plugin, state: state)), to: &text)
        }
        for event in retained { try append(Line(retained: event), to: &text) }
        for connection in connections { try append(Line(connection: connection), to: &text) }
        return text
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
