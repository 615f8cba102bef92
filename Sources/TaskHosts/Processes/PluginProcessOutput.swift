import EventLoop
import PluginInterface

/// What a process writes to its standard output or standard error, a line at a time, for the log.
@LoopActor
final class PluginProcessOutput: UnixStreamDelegate {
    private let stream: UnixStream
    private let say: (() -> String) -> Void
    private var line: [UInt8] = []
    private var isCut = false
    /// Where the process takes turns with others.
    private var turns: StreamTurns?

    /// - Parameter say: called with each line, whose text is made when it is asked for: many are left out. The stream
    ///   is closed by this.
    init(_ stream: UnixStream, _ say: @escaping (() -> String) -> Void) {
        self.stream = stream
        self.say = say
        stream.delegate = self
        stream.startReading()
    }

    /// Has the process take turns with other users of the loop.
    func share(_ scheduler: FairScheduler, as name: FairUser.Name) {
        turns = StreamTurns(stream, scheduler, as: name)
    }

    /// Takes what is still there, and closes the stream.
    func finish() {
        turns?.close()
        turns = nil
        stream.startReading()
        // As much as a pipe holds.
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
        if !line.isEmpty { say { Self.shown(line) + (isCut ? "…" : "") } }
    }

    /// What is no text, and what would move a terminal's cursor, is shown as such.
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
