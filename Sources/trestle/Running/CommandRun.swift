import EventLoop
import Glibc

/// One run of a command: a text to its standard input, its standard output back, bounded.
@LoopActor
final class CommandRun {
    /// What came out.
    struct Outcome: Sendable {
        var status: ExitStatus
        var output: [UInt8]
        /// It wrote more than the bound; it was ended for that, and `output` is nothing whole.
        var isTooLong: Bool
        /// The last line of its standard error that was not empty.
        var lastErrorLine: String?
    }

    private let process: ChildProcess
    private let timeout: Duration
    private let input: InputFeeder
    private let output: OutputCollector
    private let error: OutputCollector

    /// Starts the command, as the leader of a session of its own: what it starts can be ended with it.
    ///
    /// - Parameters:
    ///   - limitBytes: how much of its standard output is taken.
    ///   - timeout: how long it may take to end after SIGTERM, before SIGKILL.
    ///   - showErrors: gets what it writes to its standard error.
    init(
        _ command: [String], environment: [String: String], input text: [UInt8], limitBytes: Int, timeout: Duration,
        showErrors: @escaping @LoopActor (String) -> Void
    ) throws(SystemError) {
        self.timeout = timeout
        var options = ChildProcess.Options(file: command[0], arguments: Array(command.dropFirst()))
        options.environment = environment
        options.standardInput = .pipe
        options.standardOutput = .pipe
        options.standardError = .pipe
        options.isSessionLeader = true
        let process = try ChildProcess.spawn(options)
        self.process = process
        input = InputFeeder(process.standardInput, text)
        output = OutputCollector(process.standardOutput, limitBytes: limitBytes)
        // Only the last line is kept.
        error = OutputCollector(process.standardError, limitBytes: .max)
        error.forward = showErrors
        output.onTooLong = { [weak self] in self?.end() }
    }

    /// Waits for its end. Where the Swift task is cancelled, the command is ended.
    func outcome() async -> Outcome {
        let status = await withTaskCancellationHandler {
            await process.exitStatus()
        } onCancel: {
            EventLoop.post { self.end() }
        }
        // What it left in its pipes; what it started and left behind may hold them open for ever.
        for collector in [output, error] { collector.finish() }
        input.close()
        return Outcome(
            status: status, output: output.bytes, isTooLong: output.isTooLong, lastErrorLine: error.lastLine)
    }

    private func end() {
        process.kill(SIGTERM)
        let timer = LoopTimer { [process] in process.kill(SIGKILL) }
        timer.schedule(after: timeout)
        Task {
            _ = await process.exitStatus()
            timer.close()
        }
    }
}

/// Writes a text to a command's standard input, as it reads it, and then the end of input.
@LoopActor
private final class InputFeeder: UnixStreamDelegate {
    private let stream: UnixStream?
    private var text: ArraySlice<UInt8>

    init(_ stream: UnixStream?, _ text: [UInt8]) {
        self.stream = stream
        self.text = text[...]
        stream?.delegate = self
        writable()
    }

    func writable() {
        guard let stream, stream.isOpen else { return }
        text = text.dropFirst(text.withUnsafeBytes { stream.write($0) })
        if text.isEmpty { close() }
    }

    func close() { stream?.close() }

    func read(bytes: UnsafeRawBufferPointer) {}
    func endOfInput() {}
    // A command need not read its input.
    func hangUp() { close() }
    func failed(_ error: SystemError) { close() }
}

/// Takes what a command writes.
@LoopActor
private final class OutputCollector: UnixStreamDelegate {
    /// The end of the output that is kept beside the bound, to find its last line in.
    private static let tailBytes = 4_096

    private let stream: UnixStream?
    private let limitBytes: Int
    var onTooLong: (@LoopActor () -> Void)?
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLong = false
    /// Gets everything; only the end is kept then. Nil: all of it is kept.
    var forward: (@LoopActor (String) -> Void)?

    init(_ stream: UnixStream?, limitBytes: Int) {
        self.stream = stream
        self.limitBytes = limitBytes
        stream?.delegate = self
        stream?.startReading()
    }

    func read(bytes: UnsafeRawBufferPointer) {
        if isTooLong { return }
        if let forward {
            forward(String(decoding: bytes, as: UTF8.self))
            self.bytes = (self.bytes + bytes).suffix(Self.tailBytes)
        } else if self.bytes.count + bytes.count > limitBytes {
            isTooLong = true
            self.bytes = []
            onTooLong?()
        } else {
            self.bytes += bytes
        }
    }

    var lastLine: String? {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .last { !$0.allSatisfy(\.isWhitespace) }.map(String.init)
    }

    /// Reads what is there already, and nothing more.
    func finish() {
        stream?.readAvailable(limitBytes: 16 << 20)
        stream?.close()
    }

    func endOfInput() { stream?.close() }
    func hangUp() { stream?.close() }
    func failed(_ error: SystemError) { stream?.close() }
    func writable() {}
}
