import BridgeJSON
import Glibc
import TestSupport

/// A simple client that sends and receives lines on the thread of the caller.
final class Wire {
    let descriptor: Int32
    private let reader: SocketLineReader
    /// Messages that arrived while the client waited for another message.
    private var setAside: [JSON] = []
    private var lastID = 0
    private var isOpen = true

    init(path: String) throws(ConnectFailure) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        reader = SocketLineReader(descriptor)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw ConnectFailure(code: errno) }
    }

    struct ConnectFailure: Error {
        var code: Int32
    }

    deinit { close() }

    /// Closes the connection without another message.
    func close() {
        guard isOpen else { return }
        isOpen = false
        _ = Glibc.close(descriptor)
    }

    // MARK: Sending

    /// Sends a line.
    func send(_ line: String) throws { try send(bytes: Array((line + "\n").utf8)) }

    /// Sends a message.
    func send(_ message: JSON) throws { try send(bytes: message.bytes + [UInt8(ascii: "\n")]) }

    /// Sends bytes. Waits while the socket is full.
    func send(bytes: [UInt8]) throws {
        let deadline = Deadline()
        var sent = 0
        while sent < bytes.count {
            let count = try offer(bytes[sent...])
            sent += count
            guard count == 0 else { continue }
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&state, 1, deadline.millisecondsLeft)
            if deadline.isOver { throw TestFailure("the daemon does not take what is sent to it") }
        }
    }

    /// Sends as much as the socket accepts. Returns the number of bytes.
    func offer(_ bytes: ArraySlice<UInt8>) throws -> Int {
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else {
            throw TestFailure("the daemon has closed the connection: \(String(cString: strerror(errno)))")
        }
        return 0
    }

    /// Closes the sending side. Messages can still be received.
    func shutdownWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

    // MARK: Receiving

    /// Returns the next line; `nil` at the end of the stream.
    func receiveLine() throws -> [UInt8]? { try reader.line() }

    /// Returns a line that has arrived; `nil` for none. Reads without waiting.
    func lineAtHand() -> [UInt8]? {
        if let line = reader.takeLine() { return line }
        reader.fill()
        return reader.takeLine()
    }

    /// Whether the daemon has ended the stream and everything before the end has been read.
    var hasEnded: Bool { reader.hasEnded }

    /// Returns the next message.
    func receive() throws -> JSON {
        if !setAside.isEmpty { return setAside.removeFirst() }
        return try next()
    }

    /// Returns all messages up to the end of the stream.
    func receiveAll() throws -> [JSON] {
        var messages = setAside
        setAside = []
        while let line = try reader.line() { messages.append(try JSON(parsing: line)) }
        return messages
    }

    /// Waits until the daemon has closed the connection, without reading.
    func awaitHangUp() throws {
        let deadline = Deadline()
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&state, 1, deadline.millisecondsLeft) < 1 {
            if deadline.isOver { throw TestFailure("the daemon does not close the connection") }
        }
    }

    private func next() throws -> JSON {
        guard let line = try reader.line() else {
            throw TestFailure("the connection ended where a message was waited for")
        }
        return try JSON(parsing: line)
    }

    /// Returns the next message that satisfies the condition. Messages before it are set aside.
    func receive(where condition: (JSON) -> Bool) throws -> JSON {
        if let index = setAside.firstIndex(where: condition) { return setAside.remove(at: index) }
        while true {
            let message = try next()
            if condition(message) { return message }
            setAside.append(message)
        }
    }

    // MARK: Calls

    /// Calls a task. Returns the callback.
    func call(_ task: String, _ options: JSON = [:]) throws -> JSON {
        lastID += 1
        let id = JSON.string("call \(lastID)")
        try send(["task": .string(task), "options": options, "callbackId": id])
        return try receive { $0["callbackId"] == id && $0["progress"] == nil }
    }

    /// Calls a task that must succeed. Returns its result.
    func result(_ task: String, _ options: JSON = [:]) throws -> JSON {
        let callback = try call(task, options)
        guard let result = callback["result"] else { throw TestFailure("\(task) failed: \(callback.text)") }
        return result
    }

    /// Calls a task repeatedly until its result satisfies the condition. Used for changes that no event reports.
    @discardableResult
    func result(_ task: String, until isWanted: (JSON) -> Bool) throws -> JSON {
        let deadline = Deadline()
        while true {
            let result = try result(task)
            if isWanted(result) { return result }
            if deadline.isOver { throw TestFailure("\(task) never answered what is waited for: \(result.text)") }
            // Without this pause, this process and the daemon may prevent all others from running: Linux 6.18 lets
            // processes starve for seconds beside two pairs of processes that wake each other.
            poll(nil, 0, 5)
        }
    }
}
