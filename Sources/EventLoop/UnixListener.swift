import CLibuv
import Glibc

/// A Unix socket that accepts connections on the loop.
///
/// The loop keeps an open listener alive: the owner must call `close()`.
@LoopActor
public final class UnixListener {
    /// The maximum number of connections accepted per turn, so that a flood of them leaves time for other clients.
    private static let acceptsPerTurn = 64
    /// The maximum time for accepting connections in one turn: the handling of a connection may cost more than its
    /// acceptance.
    private static let acceptingNanoseconds: UInt64 = 200_000
    /// Returns the time for accepting connections in the current turn, in nanoseconds, if others use the loop. `nil`
    /// for the usual time.
    public var share: (@LoopActor () -> UInt64)?
    /// The pause in accepting after descriptors or memory have run out: other connections must end first.
    private static let backOff = Duration.milliseconds(100)

    /// Called with every connection and its peer. Must be set before `startAccepting`.
    public var onAccept: (@LoopActor (consuming UnixSocket, PeerCredentials) -> Void)?
    /// The bytes that are sent to a client that is rejected because descriptors ran out. If empty, none are sent.
    public var rejection: [UInt8] = []
    /// Called when connections were rejected because descriptors or memory ran out, with the reason and their number
    /// since the last call. The first call is immediate. Later ones follow at intervals of at least ten seconds, so
    /// that a client that connects repeatedly cannot fill a log.
    public var onTrouble: (@LoopActor (SystemError, _ turnedAway: Int) -> Void)?
    private var unreported = 0
    private var reportedAt: MonotonicInstant?
    private static let betweenTroubles = Duration.seconds(10)
    /// Whether `close()` has not been called yet.
    public var isOpen: Bool { handle != nil }
    /// Whether the socket was passed in, so that other processes may also have it and continue to listen.
    public var isAdopted: Bool { file == nil }

    /// The address: a path, or `@` and an abstract name.
    public let path: String

    private let descriptor: Int32
    /// The socket's file; `nil` if the socket was passed in. Another process must then remove its path.
    private let file: SocketFile?
    private var handle: LoopHandle<uv_poll_t>?
    /// A spare descriptor. It is closed to accept and reject a connection when no other descriptor is left.
    private var reserve: Int32
    private var backOffTimer: LoopTimer?
    private var isAccepting = false

    /// Creates a listener at `path`, with the permissions `mode`. No client can connect before they are set.
    ///
    /// A stale socket is removed, but never that of a running server. A server is running if it holds the lock file
    /// `PATH.lock` or accepts a connection at `path`. `close()` removes both files, unless `path` now belongs to
    /// another server.
    /// - Throws: `EADDRINUSE` if a server is running there, `EEXIST`, `ENAMETOOLONG` (more than 107 bytes), `EACCES` …
    public static func bind(path: String, mode: mode_t = 0o600, backlog: Int32 = 1_024) throws(SystemError)
        -> UnixListener
    {
        var address = try SocketAddress.unix(path)
        let socket = try UnixSocket.unconnected()
        let descriptor = socket.descriptor
        var file = try SocketFile(claiming: path)
        do {
            // The file is created with the descriptor's own mode. With the order bind, chmod, listen no client can
            // connect too early in any case: before listen every connection is refused.
            try systemCall("restrict the socket", path) { fchmod(descriptor, 0o600) }
            try systemCall("bind", path) { clibuv_bind(descriptor, &address) }
            try file.bound()
            try systemCall("set the permissions of", path) { chmod(path, mode) }
            try systemCall("listen at", path) { listen(descriptor, backlog) }
            return try UnixListener(socket, path: path, file: file)
        } catch {
            file.release()
            throw error
        }
    }

    /// Takes ownership of a listening socket, for example from systemd. Its path and permissions are not changed.
    /// Clients in its queue are not rejected when it closes: another process with a copy of the socket may serve them.
    /// - Throws: `EINVAL` if it is not a listening Unix stream socket; `EBADF`.
    public convenience init(adopting socket: consuming UnixSocket) throws(SystemError) {
        let descriptor = socket.descriptor
        try Self.checkListens(descriptor)
        try systemCall("set close-on-exec") { clibuv_set_close_on_exec(descriptor) }
        try self.init(socket, path: try SocketAddress.text(of: descriptor), file: nil)
    }

    private static func checkListens(_ descriptor: Int32) throws(SystemError) {
        let fault: String? =
            if try socketOption(SO_DOMAIN, of: descriptor) != AF_UNIX {
                "it is a socket, but not a Unix socket"
            } else if try socketOption(SO_TYPE, of: descriptor) != Int32(SOCK_STREAM.rawValue) {
                "it is a Unix socket, but not a stream socket (ListenStream=)"
            } else if try socketOption(SO_ACCEPTCONN, of: descriptor) == 0 {
                "it is a socket that does not listen (Accept=no)"
            } else {
                nil
            }
        guard let fault else { return }
        throw SystemError(code: EINVAL, operation: "listen at descriptor", subject: String(descriptor), advice: fault)
    }

    private static func socketOption(_ option: Int32, of descriptor: Int32) throws(SystemError) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        try systemCall("listen at descriptor", String(descriptor)) {
            getsockopt(descriptor, SOL_SOCKET, option, &value, &length)
        }
        return value
    }

    private init(_ socket: consuming UnixSocket, path: String, file: SocketFile?) throws(SystemError) {
        let descriptor = socket.descriptor
        // Also makes it non-blocking.
        let handle = try LoopHandle<uv_poll_t>("watch a listening socket") { uv_poll_init($0, $1, descriptor) }
        self.path = path
        self.file = file
        self.handle = handle
        self.descriptor = socket.release()
        reserve = Self.openReserve()
        handle.retain(self)
    }

    /// Changes the permissions of the socket that `bind` created.
    /// - Throws: `ENOENT` if the path now belongs to another socket or to none.
    public func setMode(_ mode: mode_t) throws(SystemError) { try file?.setMode(mode) }

    /// Starts accepting connections.
    public func startAccepting() {
        isAccepting = true
        watch(true)
    }

    /// Stops accepting connections for now. Clients that connect wait in the kernel's queue.
    public func stopAccepting() {
        isAccepting = false
        watch(false)
    }

    /// Immediately accepts all connections in the kernel's queue, also after `stopAccepting`.
    public func drainBacklog() {
        // Clients that connect in the meantime are accepted as well. The limit is for an endless flood.
        accept(atMost: Int(SOMAXCONN))
    }

    /// Stops listening, and removes the socket's path if it still belongs to this listener. Further calls do nothing.
    public func close() {
        guard let handle else { return }
        self.handle = nil
        handle.close()
        backOffTimer?.close()
        file?.release()
        _ = Glibc.close(descriptor)
        if reserve >= 0 { _ = Glibc.close(reserve) }
        onAccept = nil
        onTrouble = nil
        share = nil
    }

    // MARK: Accepting

    private static let ready: uv_poll_cb = { handle, _, _ in
        guard let listener = owner(handle?.pointee.data, as: UnixListener.self) else { return }
        LoopActor.assumeIsolated {
            guard listener.isAccepting else { return }
            let share = listener.share?() ?? acceptingNanoseconds
            listener.accept(atMost: acceptsPerTurn, forNanoseconds: min(share, acceptingNanoseconds))
        }
    }

    private func watch(_ wanted: Bool) {
        guard let handle else { return }
        if wanted && isAccepting {
            require(uv_poll_start(handle.raw, Int32(UV_READABLE.rawValue), Self.ready), "uv_poll_start")
        } else {
            require(uv_poll_stop(handle.raw), "uv_poll_stop")
        }
    }

    /// Accepts at most `limit` connections. If the system refuses, rejects the waiting ones and pauses.
    private func accept(atMost limit: Int, forNanoseconds nanoseconds: UInt64 = .max) {
        let start = MonotonicInstant.now().nanoseconds
        var turnedAway = 0
        var trouble: SystemError?
        let free = ReservedDescriptors.first
        for number in 0..<limit {
            guard handle != nil else { return }
            // Refusing a connection is quick.
            if number > 0, trouble == nil, MonotonicInstant.now().nanoseconds &- start >= nanoseconds { break }
            let accepted = uninterrupted { clibuv_accept(descriptor) }
            if accepted >= free {
                turnAway(accepted)
                trouble = SystemError(code: EMFILE, operation: "accept a connection", subject: path)
                turnedAway += 1
                continue
            }
            if accepted >= 0 {
                handOver(UnixSocket(adopting: accepted))
                continue
            }
            let code = errno
            if code == EAGAIN { break }
            // The client has disconnected already; continue with the next.
            if code == ECONNABORTED || code == EPROTO { continue }
            trouble = SystemError(code: code, operation: "accept a connection", subject: path)
            guard code == EMFILE || code == ENFILE, turnAwayOne() else { break }
            turnedAway += 1
        }
        guard let trouble, handle != nil else { return }
        pause()
        report(trouble, turnedAway)
    }

    private func report(_ trouble: SystemError, _ turnedAway: Int) {
        unreported += turnedAway
        let now = EventLoop.now
        if let reportedAt, now - reportedAt < Self.betweenTroubles { return }
        reportedAt = now
        onTrouble?(trouble, unreported)
        unreported = 0
    }

    private func pause() {
        watch(false)
        let timer = backOffTimer ?? LoopTimer { [weak self] in self?.watch(true) }
        timer.schedule(after: Self.backOff)
        backOffTimer = timer
    }

    private func handOver(_ socket: consuming UnixSocket) {
        // Without credentials the rights of the peer are unknown: the connection is closed.
        guard let peer = try? PeerCredentials(of: socket.descriptor) else { return }
        onAccept?(socket, peer)
    }

    /// Uses the reserve descriptor to accept one connection and reject it, so that the client does not wait for ever.
    private func turnAwayOne() -> Bool {
        guard reserve >= 0 else {
            reserve = Self.openReserve()
            return false
        }
        _ = Glibc.close(reserve)
        let accepted = uninterrupted { clibuv_accept(descriptor) }
        if accepted >= 0 { turnAway(accepted) }
        reserve = Self.openReserve()
        return accepted >= 0
    }

    /// Sends the rejection, as far as the socket takes it immediately, which a new one does, and closes the connection.
    private func turnAway(_ descriptor: Int32) {
        rejection.withUnsafeBytes { if let start = $0.baseAddress { _ = clibuv_send(descriptor, start, $0.count) } }
        _ = Glibc.close(descriptor)
    }

    private static func openReserve() -> Int32 {
        uninterrupted { clibuv_open("/dev/null", O_RDONLY, 0) }
    }
}
