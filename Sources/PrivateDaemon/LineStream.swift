import EventLoop

/// Reads the lines that a process writes to a pipe.
@LoopActor
final class LineStream: UnixStreamDelegate {
    /// The maximum length of a line in bytes. The rest of a longer line is dropped.
    private static let maximumLineBytes = 64 << 10

    private let stream: UnixStream
    private let onLine: @LoopActor (String) -> Void
    private var line: [UInt8] = []

    init(_ stream: UnixStream, onLine: @escaping @LoopActor (String) -> Void) {
        self.stream = stream
        self.onLine = onLine
        stream.delegate = self
        stream.startReading()
    }

    /// Reads the remaining data and closes the stream without waiting for its end, because children of the process may
    /// keep the pipe open indefinitely.
    func finish() {
        stream.readAvailable(limitBytes: 16 << 20)
        endLine()
        stream.close()
    }

    func read(bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == 0x0A { endLine() } else if line.count < Self.maximumLineBytes { line.append(byte) }
        }
    }

    private func endLine() {
        guard !line.isEmpty else { return }
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        onLine(text)
    }

    func endOfInput() { endLine() }
    func hangUp() { endLine() }
    func failed(_ error: SystemError) { endLine() }
    func writable() {}
}
