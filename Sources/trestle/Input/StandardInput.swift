import ArgumentParser
import BridgeJSON
import Dispatch
import EventLoop
import Glibc

/// Standard input.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// More than the maximum message size of any daemon.
    private static let maximumBytes = 256 << 20

    /// Reads the whole input as one JSON value. Blocks.
    /// - Throws: ``UsageFailure`` if it cannot be read or is not JSON.
    static func json() throws(UsageFailure) -> JSON {
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = read(STDIN_FILENO, room.baseAddress, room.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw UsageFailure("standard input cannot be read: \(Failure.reason(errno))") }
            guard count > 0 else { break }
            bytes += room[..<count]
            guard bytes.count <= maximumBytes else { throw UsageFailure("standard input is too long") }
        }
        do throws(JSONSyntaxError) {
            return try JSON(parsing: bytes)
        } catch {
            throw UsageFailure("standard input is not valid JSON: \(error)")
        }
    }
}

/// Reads lines of standard input, one by one. Reads one line ahead, so that the end of input is known at once.
///
/// The read blocks its own thread and cannot be cancelled. If the waiting Swift task is cancelled, the next line is
/// kept for the next caller.
@LoopActor
final class LineReader {
    enum Line: Sendable, Equatable {
        case text(String)
        case end
    }

    private let read: @Sendable () -> String?
    private var kept: Line?
    private let waiting = AsyncSignal<Line>()
    private let ending = AsyncSignal<Void>()

    /// - Parameter read: Returns the next line without its end, or `nil` at the end of input. Called on a thread that
    ///   may block, never concurrently.
    init(_ read: @escaping @Sendable () -> String? = { readLine() }) {
        self.read = read
        readOne()
    }

    /// Returns the next line; `nil` if the Swift task is cancelled.
    func next() async -> Line? {
        guard let line = kept else { return await waiting.wait() }
        take()
        return line
    }

    /// Waits until every line has been taken and the end of input has been reached.
    func ended() async {
        if kept != .end { _ = await ending.wait() }
    }

    /// Discards a line that arrived before it was requested.
    func discard() {
        if kept != nil { take() }
    }

    private func take() {
        guard kept != .end else { return }
        kept = nil
        readOne()
    }

    private func readOne() {
        DispatchQueue.global().async { [read] in
            let line = read().map(Line.text) ?? .end
            EventLoop.post { self.deliver(line) }
        }
    }

    private func deliver(_ line: Line) {
        if line == .end {
            kept = .end
            waiting.resumeAll(.end)
            ending.resumeAll(())
        } else if waiting.isEmpty {
            kept = line
        } else {
            waiting.resumeFirst(line)
            readOne()
        }
    }
}
