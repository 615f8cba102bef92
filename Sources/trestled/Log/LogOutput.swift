import Glibc
import ServiceManager

/// The destination and form of the log: standard error, or the journal's socket. Any thread.
final class LogOutput: Sendable {
    /// The socket of the journal's native protocol.
    static let journalPath = "/run/systemd/journal/socket"

    private let format: LogFormat
    private let style: TextLine.Style
    private let journal: DatagramSocket?
    private let descriptor: Int32

    /// - Parameters:
    ///   - format: The form, any but ``LogFormat/auto``.
    ///   - style: The style of text lines.
    ///   - descriptor: The descriptor for lines. The caller keeps it.
    ///   - journalPath: The journal's socket.
    init(
        _ format: LogFormat, style: TextLine.Style, descriptor: Int32 = STDERR_FILENO,
        journalPath: String = LogOutput.journalPath
    ) {
        self.format = format
        self.style = style
        self.descriptor = descriptor
        journal = format == .journal ? try? DatagramSocket(to: journalPath) : nil
    }

    /// Writes one entry.
    func write(_ record: LogRecord) {
        switch format {
        case .auto, .text: writeLine(Array(TextLine(style: style).text(record).utf8))
        case .json: writeLine(JSONLine.bytes(record))
        case .journal: if !sendEntry(record) { writeLine(Array(TextLine(style: .priority).text(record).utf8)) }
        }
    }

    /// Sends an entry to the journal. Returns false if the journal does not exist or does not read, or if the entry is
    /// too long for a datagram. The entry is then written as a line with its priority, which the journal also receives
    /// if standard error is connected to it.
    private func sendEntry(_ record: LogRecord) -> Bool {
        switch journal {
        case .some(let journal): journal.send(JournalEntry.bytes(record)) == 0
        case .none: false
        }
    }

    /// Writes a line with one call, so that lines of several threads do not mix. Ignores errors, such as a closed pipe.
    private func writeLine(_ line: [UInt8]) { _ = Glibc.write(descriptor, line, line.count) }
}
