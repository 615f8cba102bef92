import CLibuv
import Glibc

/// A Unix socket that accepts connections on the loop.
///
/// An open listener is kept alive by the loop: end it with `close()`.
@LoopActor
public final class UnixListener {
    /// Connections taken per turn, so that a flood of them leaves the others their share of the loop.
    private static let acceptsPerTurn = 64
    /// How long connections are taken in one turn, at most: what follows from a connection may cost more than to accept
    /// it.
    private static let acceptingNanoseconds: UInt64 = 200_000
    /// How long they may be taken in the turn at hand, where others use the loop; nil: as long as ever.
    public var share: (@LoopActor () -> UInt64)?
    /// How long nothing is accepted where descriptors or memory have run out: others must end first.
    private static let backOff = Duration.milliseconds(100)

    /// Given every connection, and who is at its other end. Set it before `startAccepting`.
    public var onAccept: (@LoopActor (consuming UnixSocket, PeerCredentials) -> Void)?
    /// The last words to those who are turned away because descriptors ran out; none where it is empty.
    public var rejection: [UInt8] = []
    /// Called when connections had to be turned away, because descriptors or memory ran out: why, and how many of them
    /// since the last call. At once, and then every ten seconds at the most, because who connects again and again
    /// must not fill a log. At most ten times a second.
    public var onTrouble: (@LoopActor (SystemError, _ turnedAway: Int) -> Void)?
    private var unreported = 0
    private var reportedAt: MonotonicInstant?
    private static let betweenTroubles = Duration.seconds(10)
    /// Whether `close()` has not been called yet.
    public var isOpen: Bool { handle != nil }
    /// Whether the socket was handed over, so that others may hold it too and go on listening.
    public var isAdopted: Bool { file == nil }

    /// Where it listens: a path, or `@` and an abstract name.
    public let path: String

    private let descriptor: Int32
    /// Nil where the socket was handed over: then another process has to remove its path.
    private let file: SocketFile?
    private var handle: LoopHandle<uv_poll_t>?
    /// Kept so that a connection can be accepted, and closed, when no other descriptor is left.
    private var reserve: Int32
    private var backOffTimer: LoopTimer?
    private var isAccepting = false

    /// Listens at `path`, which then has the permissions `mode`. No client can connect before it has them.
    ///
    /// A stale socket is removed, a living server never: who holds the lock file `PATH.lock`, or takes a connection at
    /// `path`, lives. `close()` removes both files, unless `path` now belongs to another server.
    /// - Throws: `EADDRINUSE` where a server lives there, `EEXIST`, `ENAMETOOLONG` (more than 107 bytes), `EACCES` …
    public static func bind(path: String, mode: mode_t = 0o600, backlog: Int32 = 1_024) throws(SystemError)
        -> UnixListener
    {
        var address = try SocketAddress.unix(path)
        let socket = try UnixSocket.unconnected()
        let descriptor = socket.descriptor
        var file = try SocketFile(claiming: path)
        do {
            // The file is made with the descriptor's own mode. With bind, chmod, listen in this order no client could
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

    /// Takes over a socket that listens already, such as one handed over by systemd. Its path and permissions are left
    /// alone, and so is who waits in its queue when it closes: another process that holds a copy of it may serve them.
    /// - Throws: `EINVAL` where it is not a listening Unix stream socket; `EBADF`.
    public convenience init(adopting socket: consuming UnixSocket) throws(SystemError) {
        let descriptor = socket.descriptor
        try Self.checkListens(descriptor)
        try systemCall("set close-on-exec") { clibuv_set_close_on_exec(descriptor) }
        try self.init(socket, path: try SocketAddress.text(of: descriptor), file: nil)
    }

    private static func checkListens(_ descriptor: Int32) throws(SystemError) {
        let fault: String? =
            if try socketOption(SO_DOMAIN, of: descriptor) != AF_UNIX {
                "it is a socket, and no Unix socket"
            } else if try socketOption(SO_TYPE, of: descriptor) != Int32(SOCK_STREAM.rawValue) {
                "it is a Unix socket, and no stream (ListenStream=)"
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
        // Makes it non-blocking as well.
        let handle = try LoopHandle<uv_poll_t>("watch a listening socket") { uv_poll_init($0, $1, descriptor) }
        self.path = path
        self.file = file
        self.handle = handle
        self.descriptor = socket.release()
        reserve = Self.openReserve()
        handle.retain(self)
    }

    /// Gives the socket that `bind` made other permissions.
    /// - Throws: `ENOENT` where the path is another socket's by now, or no socket's.
    public func setMode(_ mode: mode_t) throws(SystemError) { try file?.setMode(mode) }

    /// Begins to accept.
    public func startAccepting() {
        isAccepting = true
        watch(true)
    }

    /// Stops accepting for now; a client that connects waits in the kernel's queue.
    public func stopAccepting() {
        isAccepting = false
        watch(false)
    }

    /// Accepts, here and now, everything that waits in the kernel's queue, also after `stopAccepting`.
    public func drainBacklog() {
        // Those who connect meanwhile are taken as well; the bound is for a flood that never ends.
        accept(atMost: Int(SOMAXCONN))
    }

    /// Stops listening; removes the socket's path, if it is still ours. Further calls do nothing.
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

    /// Accepts up to that many. Where the system refuses, turns away who waits and pauses.
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
            // The one who connected is gone already: the next.
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
        // Without credentials the rights of the peer are unknown: it is closed.
        guard let peer = try? PeerCredentials(of: socket.descriptor) else { return }
        onAccept?(socket, peer)
    }

    /// Uses the reserve descriptor to accept one connection and close it: better a clear end than waiting for ever.
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

    /// Says why, as far as the socket takes it immediately, which a new one does, and closes.
    private func turnAway(_ descriptor: Int32) {
        rejection.withUnsafeBytes { if let start = $0.baseAddress { _ = clibuv_send(descriptor, start, $0.count) } }
        _ = Glibc.close(descriptor)
    }

    private static func openReserve() -> Int32 {
        uninterrupted { clibuv_open("/dev/null", O_RDONLY, 0) }
    }
}
