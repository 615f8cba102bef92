import ArgumentParser
import BridgeJSON
import Dispatch
import EventLoop
import Glibc

/// Standard input.
enum StandardInput {
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// More than any daemon takes as one message.
    private static let longestBytes = 256 << 20

    /// All of it, as one JSON value. Blocks.
    /// - Throws: the exit code, where it is none; that has been reported then.
    static func json() throws(ExitCode) -> JSON {
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = read(STDIN_FILENO, room.baseAddress, room.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += room[..<count]
            guard bytes.count <= longestBytes else { throw Failure.usage("standard input is too long for options") }
        }
        do throws(JSONSyntaxError) {
            return try JSON(parsing: bytes)
        } catch {
            throw Failure.usage("standard input is no JSON: \(error)")
        }
    }
}

/// Lines of standard input, read one by one as they are asked for.
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
    private var kept: [Line] = []
    private var isReading = false
    private let waiting = WaitingList<Line>()

    /// - Parameter read: returns the next line without its end, nil at the end of input. Called on a thread that may
    ///   block, never twice at once.
    init(_ read: @escaping @Sendable () -> String? = { readLine() }) {
        self.read = read
    }

    /// The next line; nil where the Swift task is cancelled.
    func next() async -> Line? {
        if kept.first == .end { return .end }
        if !kept.isEmpty { return kept.removeFirst() }
        readOne()
        return await waiting.wait()
    }

    private func readOne() {
        guard !isReading else { return }
        isReading = true
        DispatchQueue.global().async { [read] in
            let line = read()
            EventLoop.post { self.deliver(line.map(Line.text) ?? .end) }
        }
    }

    private func deliver(_ line: Line) {
        isReading = false
        if line == .end {
            kept.append(.end)
            waiting.resumeAll(.end)
        } else if waiting.isEmpty {
            kept.append(line)
        } else {
            waiting.resumeFirst(line)
            if !waiting.isEmpty { readOne() }
        }
    }
}
