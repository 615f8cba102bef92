import EventLoop

/// What a worker writes to its standard output or standard error, a line at a time, for the log.
@LoopActor
final class WorkerOutput: UnixStreamDelegate {
    /// A longer line is cut.
    private static let longestLineBytes = 8 << 10

    private let stream: UnixStream
    private let say: (String) -> Void
    private var line: [UInt8] = []
    private var isCut = false

    /// - Parameter say: told of each line. The stream is closed by this.
    init(_ stream: UnixStream, _ say: @escaping (String) -> Void) {
        self.stream = stream
        self.say = say
        stream.delegate = self
        stream.startReading()
    }

    /// Takes what is still there, and closes the stream.
    func finish() {
        // As much as a pipe holds.
        stream.readAvailable(limitBytes: 1 << 20)
        endLine()
        stream.close()
    }

    func read(bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == 0x0A {
                endLine()
            } else if line.count < Self.longestLineBytes {
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
        guard !line.isEmpty else { return }
        // What is no text, and what would move a terminal's cursor, is shown as such.
        let text = String(decoding: line, as: UTF8.self).unicodeScalars.map { scalar in
            scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F ? "\u{FFFD}" : String(scalar)
        }
        say(text.joined() + (isCut ? "…" : ""))
    }

    func endOfInput() { endLine() }

    func hangUp() { endLine() }

    func writable() {}

    func failed(_ error: SystemError) { endLine() }
}
