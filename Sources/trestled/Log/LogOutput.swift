import Glibc
import ServiceManager

/// Where the log goes, in which form: standard error, or the journal's socket. Any thread.
final class LogOutput: Sendable {
    /// Where the journal takes entries in its own protocol.
    static let journalPath = "/run/systemd/journal/socket"

    private let format: LogFormat
    private let style: TextLine.Style
    private let journal: DatagramSocket?
    private let descriptor: Int32

    /// - Parameters:
    ///   - format: the form, none but ``LogFormat/auto``.
    ///   - style: of lines of text.
    ///   - descriptor: where lines go. Stays the caller's.
    ///   - journalPath: the journal's socket.
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

    /// False where the journal does not take the entry: it is not there, does not read, or the entry is too long for a
    /// datagram. As a line, with its priority in front, it still comes through where standard error leads to the
    /// journal.
    private func sendEntry(_ record: LogRecord) -> Bool {
        switch journal {
        case .some(let journal): journal.send(JournalEntry.bytes(record)) == 0
        case .none: false
        }
    }

    /// One write for a line, so that lines of several threads do not mix. Where no one reads, nothing is to be done.
    private func writeLine(_ line: [UInt8]) { _ = Glibc.write(descriptor, line, line.count) }
}
