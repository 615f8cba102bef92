import EventLoop
import PluginInterface

/// Reads the standard output or standard error of a process, line by line, for the log.
@LoopActor
final class PluginProcessOutput: UnixStreamDelegate {
    private let stream: UnixStream
    private let report: (() -> String) -> Void
    private var line: [UInt8] = []
    private var isCut = false
    /// The scheduling of this stream among the users of the loop; `nil` without a scheduler.
    private var turns: StreamTurns?

    /// Begins to read. This object closes the stream.
    ///
    /// - Parameter report: Called with each line. The text is made only on request, as many lines are omitted.
    init(_ stream: UnixStream, _ report: @escaping (() -> String) -> Void) {
        self.stream = stream
        self.report = report
        stream.delegate = self
        stream.startReading()
    }

    /// Makes the process share the loop with other users.
    func share(_ scheduler: FairScheduler, as name: FairUser.Name) {
        turns = StreamTurns(stream, scheduler, as: name)
    }

    /// Reads the remaining output and closes the stream.
    func finish() {
        turns?.close()
        turns = nil
        stream.startReading()
        // The limit is the maximum capacity of a pipe.
        stream.readAvailable(limitBytes: 1 << 20)
        endLine()
        stream.close()
    }

    func mayRead() -> Bool { turns?.mayRead() ?? true }

    func read(bytes: UnsafeRawBufferPointer) {
        guard let turns else { return take(bytes) }
        turns.noteUnasked()
        turns.charged { take(bytes) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == 0x0A {
                endLine()
            } else if line.count < PluginProtocol.logLineBytes {
                line.append(byte)
            } else {
                isCut = true
            }
        }
    }

    private func endLine() {
        defer {
            line.removeAll(keepingCapacity: true)
            isCut = false
        }
        if !line.isEmpty { report { Self.shown(line) + (isCut ? "…" : "") } }
    }

    /// Returns the line as text. Invalid UTF-8 and control characters, which could move a terminal's cursor, are
    /// replaced.
    private static func shown(_ line: [UInt8]) -> String {
        let scalars = String(decoding: line, as: UTF8.self).unicodeScalars.map { scalar in
            scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F ? "\u{FFFD}" : String(scalar)
        }
        return scalars.joined()
    }

    func endOfInput() { endLine() }

    func hangUp() { endLine() }

    func writable() {}

    func failed(_ error: SystemError) { endLine() }
}
