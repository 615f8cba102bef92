import EventLoop
import Glibc

/// One run of a command: writes a text to its standard input and reads its standard output up to a limit.
@LoopActor
final class CommandRun {
    /// The result of the run.
    struct Outcome: Sendable {
        var status: ExitStatus
        var output: [UInt8]
        /// Whether it wrote more than the limit; it was then ended, and `output` is empty.
        var isTooLong: Bool
        /// The last line of its standard error that was not blank; `nil` if there was none.
        var lastErrorLine: String?
    }

    private let process: ChildProcess
    private let timeout: Duration
    private let input: InputFeeder
    private let output: OutputCollector
    private let error: OutputCollector

    /// Starts the command as the leader of its own session, so that its children can be ended with it.
    ///
    /// - Parameters:
    ///   - limitBytes: The maximum size of its standard output in bytes.
    ///   - timeout: The time between SIGTERM and SIGKILL.
    ///   - showErrors: Receives its standard error.
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
        // Only the end is kept.
        error = OutputCollector(process.standardError, limitBytes: .max)
        error.forward = showErrors
        output.onTooLong = { [weak self] in self?.end() }
    }

    /// Waits until the command ends. Cancelling the Swift task ends the command.
    func outcome() async -> Outcome {
        let status = await withTaskCancellationHandler {
            await process.exitStatus()
        } onCancel: {
            EventLoop.post { self.end() }
        }
        // Reads the rest of its pipes without waiting for their ends, because remaining children may keep them open.
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

/// Writes a text to a command's standard input as the command reads it, then closes it.
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

/// Collects the output of a command.
@LoopActor
private final class OutputCollector: UnixStreamDelegate {
    /// The size of the kept end of unlimited output, which contains the last line.
    private static let tailBytes = 4_096

    private let stream: UnixStream?
    private let limitBytes: Int
    var onTooLong: (@LoopActor () -> Void)?
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLong = false
    /// Receives the whole output, of which only the end is kept; `nil` keeps the whole output.
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

    /// Reads the available data and closes the stream.
    func finish() {
        stream?.readAvailable(limitBytes: 16 << 20)
        stream?.close()
    }

    func endOfInput() { stream?.close() }
    func hangUp() { stream?.close() }
    func failed(_ error: SystemError) { stream?.close() }
    func writable() {}
}
