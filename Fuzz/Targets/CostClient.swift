import Glibc

/// A client on a real connection. If the fuzzer runs as root, the client has a user that is neither root nor the
/// daemon's. Only the fuzzer's thread uses it; no function waits.
final class CostClient {
    static let uid: uid_t = 65_530
    /// A call whose answer shows that everything before it has been handled.
    private static let fence = Array(#"{"task":"bridge.ping","callbackId":"fence"}"#.utf8) + [0x0A]
    private static let fenceAnswer = Array(#"{"callbackId":"fence""#.utf8)

    let descriptor: Int32
    private var unsent: [UInt8] = []
    private var sentBytes = 0
    private var wantedFences = 0
    /// The number of bytes received from the daemon.
    private(set) var receivedBytes = 0
    private var isClosed = false
    /// The beginning of the line that is being received.
    private var line: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(to path: String) throws(Violation) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        // The kernel records the effective user of the connecting thread.
        let descriptor = descriptor
        let connected = {
            // The C interface takes an address of any family as a pointer to the common type.
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        let status = ThreadUser.isSettable ? ThreadUser.run(as: Self.uid, connected) : connected()
        try require(status == 0, "the client cannot connect: \(String(cString: strerror(errno)))")
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    func queue(_ bytes: [UInt8]) { unsent += bytes }

    /// Queues a call whose answer shows that everything before it has been handled.
    func queueFence() {
        wantedFences += 1
        queue(Self.fence)
    }

    var isDone: Bool { isClosed || wantedFences == 0 }

    /// The events to wait for.
    var events: Int16 { Int16(sentBytes < unsent.count ? POLLIN | POLLOUT : POLLIN) }

    /// Writes and reads as much as possible.
    func pump() {
        while !isClosed, sentBytes < unsent.count {
            let count = unsent.withUnsafeBytes {
                send(descriptor, $0.baseAddress.map { $0 + sentBytes }, $0.count - sentBytes, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if errno != EAGAIN { isClosed = true }
                break
            }
            sentBytes += count
        }
        while !isClosed {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { return }
            if count <= 0 {
                isClosed = true
            } else {
                receivedBytes += count
                take(buffer[..<count])
            }
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            line += rest[..<end].prefix(Self.fenceAnswer.count - min(line.count, Self.fenceAnswer.count))
            if line == Self.fenceAnswer { wantedFences -= 1 }
            line.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        line += rest.prefix(Self.fenceAnswer.count - min(line.count, Self.fenceAnswer.count))
    }

    deinit { close(descriptor) }
}
