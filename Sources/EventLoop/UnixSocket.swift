import CLibuv
import Glibc

/// The identity of the peer of a Unix socket, recorded by the kernel when the connection was made.
public struct PeerCredentials: Sendable, Hashable {
    /// The peer's effective user id.
    public var uid: UInt32
    /// The peer's effective group id.
    public var gid: UInt32
    /// The peer's process id; the process may have ended since. 0 if it is not visible in this process's namespace.
    public var pid: Int32
    /// The peer's supplementary groups.
    public var groups: [UInt32]

    /// Creates credentials with these ids.
    public init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
    }

    /// Requests the credentials of a connected socket's peer from the kernel.
    init(of descriptor: Int32) throws(SystemError) {
        var peer = clibuv_peer()
        try systemCall("read the peer's credentials") { clibuv_peer_credentials(descriptor, &peer) }
        self.init(uid: peer.uid, gid: peer.gid, pid: peer.pid, groups: Self.groups(of: descriptor))
    }

    /// Returns the peer's supplementary groups; empty if the kernel does not report them.
    private static func groups(of descriptor: Int32) -> [UInt32] {
        // Most users are in a few groups; if there are more, the kernel reports the number.
        var count = 32
        while true {
            var groups = [UInt32](repeating: 0, count: count)
            var bytes = UInt32(count * MemoryLayout<UInt32>.size)
            let result = clibuv_peer_groups(descriptor, &groups, &bytes)
            let needed = Int(bytes) / MemoryLayout<UInt32>.size
            if result == 0 { return Array(groups.prefix(needed)) }
            guard errno == ERANGE, needed > count else { return [] }
            count = needed
        }
    }
}

/// A descriptor without another owner. It is closed with this value, unless it was released. Any thread.
public struct UnixSocket: ~Copyable, Sendable {
    /// The descriptor; valid as long as this value exists.
    public let descriptor: Int32

    /// Takes ownership of the descriptor.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = close(descriptor)
    }

    /// Passes the descriptor to the caller, which must close it.
    public consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Returns the socket's number, which is the same for all its descriptors in any process; `nil` if it is unknown.
    public static func inode(of descriptor: Int32) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }

    /// Calls `body` with two sockets that are connected to each other, non-blocking and closed on exec.
    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM`, and the errors of `body`, unchanged.
    public static func pair<R: ~Copyable>(
        _ body: (consuming UnixSocket, consuming UnixSocket) throws -> R
    ) throws -> R {
        var descriptors: (Int32, Int32) = (-1, -1)
        try systemCall("create a socket pair") {
            withUnsafeMutablePointer(to: &descriptors) {
                $0.withMemoryRebound(to: Int32.self, capacity: 2, clibuv_socketpair)
            }
        }
        return try body(UnixSocket(adopting: descriptors.0), UnixSocket(adopting: descriptors.1))
    }

    /// Creates an unconnected stream socket.
    static func unconnected() throws(SystemError) -> UnixSocket {
        UnixSocket(adopting: try systemCall("create a socket", nil, clibuv_socket))
    }

    /// Connects to the server at `path`.
    /// - Throws: `ENAMETOOLONG`, `ENOENT`, `ECONNREFUSED` (no process listens there), `EACCES`, or `EAGAIN` (the
    ///   server's queue is full: try again).
    public static func connected(to path: String) throws(SystemError) -> UnixSocket {
        var address = try SocketAddress.unix(path)
        let socket = try unconnected()
        let descriptor = socket.descriptor
        try systemCall("connect to", path) { clibuv_connect(descriptor, &address) }
        return socket
    }
}

/// Addresses of Unix sockets.
enum SocketAddress {
    /// Returns the address of a path. Throws if the path is too long, is empty or contains a zero byte.
    static func unix(_ path: String) throws(SystemError) -> sockaddr_un {
        let limit = Int(clibuv_path_limit)
        let bytes = path.utf8.count
        guard bytes <= limit else {
            throw SystemError(
                code: ENAMETOOLONG, operation: "use the socket path", subject: path,
                advice: "it has \(bytes) bytes, and a Unix socket's path has at most \(limit): choose a shorter one")
        }
        guard bytes > 0, !path.utf8.contains(0) else {
            throw SystemError(
                code: EINVAL, operation: "use the socket path", subject: path, advice: "it is empty or has a zero byte")
        }
        var address = sockaddr_un()
        path.withCString { clibuv_set_address(&address, $0, bytes) }
        return address
    }

    /// Returns the address to which a socket is bound: a path, `@` and an abstract name, or an empty string if there is
    /// none.
    static func text(of descriptor: Int32) throws(SystemError) -> String {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        try systemCall("read the address of a socket") { clibuv_local_address(descriptor, &address, &length) }
        return withUnsafeBytes(of: &address) { bytes in
            let pathOffset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
            let name = bytes[..<min(Int(length), bytes.count)].dropFirst(pathOffset)
            guard name.first == 0 else { return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) }
            return "@" + String(decoding: name.dropFirst(), as: UTF8.self)
        }
    }
}
