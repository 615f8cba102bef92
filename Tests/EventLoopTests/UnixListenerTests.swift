import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20))) @LoopActor struct UnixListenerTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("s") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("A connection is accepted with the peer's identity, and bytes go both ways")
    func accept() async throws {
        let server = try KeepingServer(path)
        defer { server.close() }
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await server.wait(for: 1)
        #expect(server.peers == [PeerCredentials(uid: getuid(), gid: getgid(), pid: getpid(), groups: ownGroups())])
        let recorder = Recorder()
        client.delegate = recorder
        client.startReading()
        server.streams[0].write("hello")
        await recorder.wait { $0.received == Array("hello".utf8) }
    }

    @Test("If other users share the loop, connections are accepted one per turn")
    func share() async throws {
        let listener = try UnixListener.bind(path: path, mode: 0o600)
        defer { listener.close() }
        var turn = 0
        var acceptedIn: [Int] = []
        let hook = EventLoop.atTurnEnd { turn += 1 }
        defer { hook.remove() }
        listener.share = { 0 }
        listener.onAccept = { _, _ in acceptedIn.append(turn) }
        let clients = try (0..<10).map { _ in try UnixStream.connect(path: path) }
        defer { for client in clients { client.close() } }
        listener.startAccepting()
        while acceptedIn.count < clients.count { await Task.yield() }
        #expect(Set(acceptedIn).count == clients.count)
    }

    @Test("The path has the requested permissions, and close removes it and its lock")
    func permissions() async throws {
        let listener = try UnixListener.bind(path: path, mode: 0o666)
        #expect(try mode(path) == 0o666)
        #expect(try mode(path + ".lock") == 0o600)
        listener.close()
        listener.close()
        #expect(access(path, F_OK) != 0)
        #expect(access(path + ".lock", F_OK) != 0)
    }

    @Test("The path's permissions can be changed while it belongs to the listener, and not afterwards")
    func changedPermissions() async throws {
        let listener = try UnixListener.bind(path: path, mode: 0o600)
        defer { listener.close() }
        #expect(!listener.isAdopted)
        try listener.setMode(0o660)
        #expect(try mode(path) == 0o660)
        unlink(path)
        #expect(throws: SystemError.self) { try listener.setMode(0o666) }
        try leaveStaleSocket()
        let others = try mode(path)
        let error = #expect(throws: SystemError.self) { try listener.setMode(0o777) }
        #expect(error?.description.contains("the socket file was removed") == true)
        #expect(try mode(path) == others)
    }

    @Test("A second server is refused with an error, and the first one continues")
    func live() async throws {
        let server = try KeepingServer(path)
        defer { server.close() }
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == EADDRINUSE)
        #expect(error?.description.contains("another server is running there") == true)
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await server.wait(for: 1)
    }

    @Test("A server of another kind, without this lock, is not replaced either")
    func liveWithoutLock() throws {
        let server = try UnixListener.bind(path: path)
        defer { server.close() }
        unlink(path + ".lock")
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == EADDRINUSE)
        #expect(access(path, F_OK) == 0)
    }

    @Test("A stale socket is replaced")
    func stale() async throws {
        try leaveStaleSocket()
        #expect(throws: SystemError.self) { try UnixStream.connect(path: path) }
        let server = try KeepingServer(path)
        defer { server.close() }
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await server.wait(for: 1)
    }

    @Test("A file that is not a socket is left unchanged")
    func notASocket() throws {
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        close(descriptor)
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == EEXIST)
        #expect(access(path, F_OK) == 0)
        #expect(access(path + ".lock", F_OK) != 0)
    }

    @Test("A path of 107 bytes is accepted, one of 108 refused with an error", arguments: [107, 108])
    func longPath(bytes: Int) throws {
        let path = directory.file(String(repeating: "x", count: bytes - directory.path.utf8.count - 1))
        guard bytes > 107 else {
            try UnixListener.bind(path: path).close()
            return
        }
        for attempt in [{ try UnixListener.bind(path: path).close() }, { try UnixStream.connect(path: path).close() }] {
            let error = #expect(throws: SystemError.self) { try attempt() }
            #expect(error?.code == ENAMETOOLONG)
            #expect(error?.description.contains("108 bytes") == true)
        }
    }

    @Test("The error for a missing directory contains the path")
    func noDirectory() {
        let path = directory.file("no/s")
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == ENOENT)
        #expect(error?.description.contains(path) == true)
    }

    @Test("Close does not remove a path that now belongs to another socket")
    func foreignInode() throws {
        let listener = try UnixListener.bind(path: path)
        unlink(path)
        try leaveStaleSocket()
        listener.close()
        #expect(access(path, F_OK) == 0)
    }

    @Test("drainBacklog accepts the connections in the kernel's queue, also while not accepting")
    func drain() async throws {
        let server = try KeepingServer(path)
        defer { server.close() }
        server.listener.stopAccepting()
        let clients = try (0..<100).map { _ in try UnixStream.connect(path: path) }
        defer { for client in clients { client.close() } }
        await turns()
        #expect(server.peers.isEmpty)
        server.listener.drainBacklog()
        #expect(server.peers.count == 100)
    }

    @Test("More connections than one turn takes are all accepted")
    func many() async throws {
        let server = try KeepingServer(path)
        defer { server.close() }
        let clients = try (0..<300).map { _ in try UnixStream.connect(path: path) }
        defer { for client in clients { client.close() } }
        await server.wait(for: 300)
    }

    @Test("A listener may be closed inside onAccept")
    func closeInside() async throws {
        let listener = try UnixListener.bind(path: path)
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await withCheckedContinuation { continuation in
            listener.onAccept = { [weak listener] _, _ in
                listener?.close()
                continuation.resume()
            }
            listener.startAccepting()
        }
        #expect(!listener.isOpen)
    }

    @Test("A listening socket is adopted and its path kept at the close; a socket that does not listen is refused")
    func adopt() async throws {
        let descriptor = try boundDescriptor()
        #expect(throws: SystemError.self) { try UnixListener(adopting: UnixSocket(adopting: dup(descriptor))) }
        listen(descriptor, 8)
        let listener = try UnixListener(adopting: UnixSocket(adopting: descriptor))
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await withCheckedContinuation { continuation in
            listener.onAccept = { _, _ in continuation.resume() }
            listener.startAccepting()
        }
        listener.close()
        #expect(access(path, F_OK) == 0)
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    /// Leaves a socket file behind: it stays when its descriptor is closed.
    private func leaveStaleSocket() throws {
        close(try boundDescriptor())
    }

    private func boundDescriptor() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        return descriptor
    }
}
