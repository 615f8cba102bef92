import CLibuv
import Glibc

/// Who is at the other end of a Unix socket, as the kernel recorded it when the connection was made.
public struct PeerCredentials: Sendable, Hashable {
    /// The peer's effective user id.
    public var uid: UInt32
    /// The peer's effective group id.
    public var gid: UInt32
    /// The peer's process id; the process may have ended since. 0 where it is in no namespace that we see.
    public var pid: Int32
    /// The peer's groups beside that one.
    public var groups: [UInt32]

    /// Credentials with those ids.
    public init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
    }

    /// Asks the kernel about a connected socket.
    init(of descriptor: Int32) throws(SystemError) {
        var peer = clibuv_peer()
        try systemCall("read the peer's credentials") { clibuv_peer_credentials(descriptor, &peer) }
        self.init(uid: peer.uid, gid: peer.gid, pid: peer.pid, groups: Self.groups(of: descriptor))
    }

    /// A kernel that does not report them is taken to have none.
    private static func groups(of descriptor: Int32) -> [UInt32] {
        // Most users are in a few; where there are more, the kernel says how many.
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

/// A descriptor that has no other owner: closed when it goes, unless it was released. Not bound to a thread.
public struct UnixSocket: ~Copyable, Sendable {
    /// The descriptor; valid as long as this value lives.
    public let descriptor: Int32

    /// Takes the descriptor over.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = close(descriptor)
    }

    /// Gives the descriptor to the caller, who closes it.
    public consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Which socket this is: the same number for every descriptor of it, in whatever process; nil: it is not known.
    public static func inode(of descriptor: Int32) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return UInt64(status.st_ino)
    }

    /// Hands two sockets that are connected to each other to `body`: non-blocking, closed on exec.
    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM`; and what `body` throws, wrapped in nothing.
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

    /// A new, unconnected stream socket.
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
    /// The address of a path, where it fits.
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

    /// The address that a socket is bound to: a path, `@` and an abstract name, or nothing where it has none.
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
