import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Calls of Echo with large options, numbered from 0, and their expected callbacks.
struct EchoFlood {
    let count: Int
    private let filling: String

    /// 64 MiB in total by default.
    init(count: Int = 1_024, optionsBytes: Int = 64 * 1_024) {
        self.count = count
        filling = String(repeating: "0123456789abcdef", count: optionsBytes / 16)
    }

    func call(_ id: Int) -> [UInt8] {
        Array("{\"task\":\"Echo\",\"callbackId\":\(id),\"options\":\"\(filling)\"}\n".utf8)
    }

    func isCallback(_ line: [UInt8], of id: Int) -> Bool {
        line == Array("{\"callbackId\":\(id),\"result\":\"\(filling)\"}".utf8)
    }
}

/// The sender of a flood. It sends as much as the socket accepts, and tracks its position.
struct Sender {
    let wire: Wire
    let flood: EchoFlood
    private var next = 0
    private var line: ArraySlice<UInt8> = []

    init(_ wire: Wire, _ flood: EchoFlood) {
        self.wire = wire
        self.flood = flood
    }

    var isDone: Bool { next == flood.count && line.isEmpty }

    /// Sends until the socket is full or everything is sent. Returns the number of bytes that were accepted.
    mutating func sendWhatFits() throws -> Int {
        var bytes = 0
        while !isDone {
            if line.isEmpty {
                line = flood.call(next)[...]
                next += 1
            }
            let count = try wire.offer(line)
            if count == 0 { break }
            line = line.dropFirst(count)
            bytes += count
        }
        return bytes
    }

    /// The number of calls that were sent completely; `nil` if one was sent in part.
    var callsSent: Int? {
        if line.isEmpty { return next }
        return line.count == flood.call(next - 1).count ? next - 1 : nil
    }

    /// Sends until the daemon has stopped reading and the socket is full.
    mutating func stuff(_ daemon: DaemonProcess, boundBytes: Int64) throws {
        let observer = try daemon.connect()
        let deadline = Deadline()
        var queued: Int64 = 0
        while true {
            let sentBytes = try sendWhatFits()
            if sentBytes == 0, queued > boundBytes { return }
            // The daemon answers this while its buffers are full: the full buffer of one session does not delay the
            // calls of another.
            let sessions = try observer.result("bridge.sessions")["sessions"]?.arrayValue ?? []
            queued = sessions.compactMap { $0["queuedBytes"]?.int64Value }.max() ?? 0
            guard !isDone, !deadline.isOver else { throw TestFailure("the daemon reads on: \(queued) bytes wait") }
        }
    }

    /// Sends the rest and reads everything. Each call must get its own callback, in the order of the calls.
    mutating func pump() throws {
        let deadline = Deadline()
        var answered = 0
        while answered < flood.count {
            _ = try sendWhatFits()
            while let line = wire.lineAtHand() {
                try #require(
                    flood.isCallback(line, of: answered), "\(String(decoding: line.prefix(80), as: UTF8.self))")
                answered += 1
            }
            guard answered < flood.count else { return }
            try #require(!wire.hasEnded && !deadline.isOver, "\(answered) callbacks came")
            var state = pollfd(fd: wire.descriptor, events: Int16(isDone ? POLLIN : POLLIN | POLLOUT), revents: 0)
            poll(&state, 1, deadline.millisecondsLeft)
        }
    }
}
