import Glibc

/// A connection of the attacking user. No function here waits: ``AttackField/pump(until:)`` writes and reads.
final class AttackConnection {
    let descriptor: Int32
    /// The number of received lines, events included.
    private(set) var receivedLines = 0
    /// The number of received lines that are neither events nor calls.
    private(set) var answers = 0
    private(set) var receivedBytes = 0
    /// The beginning of the last answer.
    private(set) var lastAnswer = ""
    private(set) var isClosed = false
    /// Whether this is the operator's connection, which receives messages at any time.
    let isOperator: Bool
    /// Whether it answers the calls of tasks that it provides.
    var answersCalls = false
    private var unsent: [UInt8] = []
    private var unsentStart = 0
    /// The beginning of the line that is being received.
    private var line: [UInt8] = []
    private static let keptBytes = 512
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Connects as a user.
    init(to path: String, uid: UInt32?, isOperator: Bool = false) throws {
        self.isOperator = isOperator
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("no socket: \(lastError())") }
        // The kernel records the effective user of the connecting process; nothing else of this process changes.
        if let uid, setegid(uid) != 0 || seteuid(uid) != 0 { throw Failure("user \(uid): \(lastError())") }
        let isConnected = UnixCall.connect(descriptor, to: path)
        let error = lastError()
        if uid != nil, seteuid(0) != 0 || setegid(0) != 0 { throw Failure("back to root: \(lastError())") }
        guard isConnected else { throw Failure("the attacker cannot connect: \(error)") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    func queue(_ bytes: [UInt8]) {
        if unsent.isEmpty { unsent = bytes } else { unsent += bytes }
    }

    var hasUnsent: Bool { unsentStart < unsent.count }

    /// Writes as many bytes as the socket accepts.
    func write() {
        while hasUnsent, !isClosed {
            let count = unsent.withUnsafeBytes {
                send(
                    descriptor, $0.baseAddress.map { $0 + unsentStart }, $0.count - unsentStart,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if errno != EAGAIN { isClosed = true }
                return
            }
            unsentStart += count
        }
        unsent = []
        unsentStart = 0
    }

    /// Reads the available bytes.
    func read() {
        while !isClosed {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                isClosed = true
                return
            }
            receivedBytes += count
            take(count)
            if count < buffer.count { return }
        }
    }

    private func take(_ count: Int) {
        buffer.withUnsafeBytes { bytes in
            var start = 0
            while start < count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<count])
                guard let address = rest.baseAddress else { return }
                let end = memchr(address, 0x0A, rest.count).map { UnsafeRawPointer($0) - address }
                line += rest.prefix(min(end ?? rest.count, Self.keptBytes - min(Self.keptBytes, line.count)))
                guard let end else { return }
                endLine()
                start += end + 1
            }
        }
    }

    private func endLine() {
        receivedLines += 1
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        if text.hasPrefix(#"{"task""#) {
            if answersCalls { answer(text) }
            return
        }
        if text.hasPrefix(#"{"event""#) || text.hasPrefix(#"{"cancel""#) { return }
        answers += 1
        lastAnswer = text
    }

    private func answer(_ call: String) {
        guard let id = call.split(separator: #""callbackId":"#).dropFirst().first?.prefix(while: \.isNumber) else {
            return
        }
        queue(Array("{\"callbackId\":\(id),\"result\":1}\n".utf8))
    }

    func close() {
        isClosed = true
        Glibc.close(descriptor)
    }
}
