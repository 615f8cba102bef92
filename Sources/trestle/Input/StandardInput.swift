import ArgumentParser
import BridgeJSON
import Dispatch
import EventLoop
import Glibc

/// Standard input.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// More than any daemon takes as one message.
    private static let maximumBytes = 256 << 20

    /// All of it, as one JSON value. Blocks.
    /// - Throws: ``UsageFailure`` where it is none.
    static func json() throws(UsageFailure) -> JSON {
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = read(STDIN_FILENO, room.baseAddress, room.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += room[..<count]
            guard bytes.count <= maximumBytes else { throw UsageFailure("standard input is too long for options") }
        }
        do throws(JSONSyntaxError) {
            return try JSON(parsing: bytes)
        } catch {
            throw UsageFailure("standard input is no JSON: \(error)")
        }
    }
}

/// Lines of standard input, one by one. Reads one line ahead, so that the end of input is known as soon as it is there.
///
/// The read itself blocks a thread of its own and cannot be called back: where who waits is cancelled, the line that
/// comes is kept for the next one.
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

    /// - Parameter read: returns the next line without its end, nil at the end of input. Called on a thread that may
    ///   block, never twice at the same time.
    init(_ read: @escaping @Sendable () -> String? = { readLine() }) {
        self.read = read
        readOne()
    }

    /// The next line; nil where the Swift task is cancelled.
    func next() async -> Line? {
        guard let line = kept else { return await waiting.wait() }
        take()
        return line
    }

    /// Waits until every line has been taken and the end of input has been reached.
    func ended() async {
        if kept != .end { _ = await ending.wait() }
    }

    /// Forgets a line that was not asked for.
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
