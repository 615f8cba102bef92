import BridgeJSON
import Glibc

/// The reason why the demonstration stopped, as a sentence.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
}

/// A minimal client: a Unix socket, one line a message. Blocking, one thread.
final class LineSocket {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// The time limit of an answer: far longer than any answer takes.
    private static let timeoutMilliseconds: Int32 = 10_000

    init(path: String) throws(DemoFailure) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard descriptor >= 0, path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw DemoFailure(description: "no socket can be made for \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            throw DemoFailure(description: "no daemon answers at \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func send(_ line: String) throws(DemoFailure) {
        let bytes = Array((line + "\n").utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw DemoFailure(description: "the daemon does not take what is sent to it")
        }
    }

    /// Returns the next line; `nil` at the end of the stream.
    func receive() throws(DemoFailure) -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, Self.timeoutMilliseconds) == 1 else {
                throw DemoFailure(description: "no answer came within ten seconds")
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return nil }
            buffer.append(contentsOf: chunk[..<count])
        }
    }
}
