import EventLoop
import Glibc
import Testing

@Suite @LoopActor struct UnixListenerTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("s") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("A connection is accepted with the peer's identity, and bytes go both ways")
    func accept() async throws {
        let server = try Server(path)
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

    @Test("Where others use the loop, connections are taken one by one, each in a turn of its own")
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

    @Test("The path has the permissions asked for, and close removes it and its lock")
    func permissions() async throws {
        let listener = try UnixListener.bind(path: path, mode: 0o666)
        #expect(try mode(path) == 0o666)
        #expect(try mode(path + ".lock") == 0o600)
        listener.close()
        listener.close()
        #expect(access(path, F_OK) != 0)
        #expect(access(path + ".lock", F_OK) != 0)
    }

    @Test("The path's permissions can be changed while it is the listener's, and no other's are touched")
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
        #expect(error?.description.contains("the socket is gone") == true)
        #expect(try mode(path) == others)
    }

    @Test("A second server is refused, in words, and the first one lives on")
    func live() async throws {
        let server = try Server(path)
        defer { server.close() }
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == EADDRINUSE)
        #expect(error?.description.contains("another server is running there") == true)
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await server.wait(for: 1)
    }

    @Test("A server of another kind, without our lock, is not displaced either")
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
        let server = try Server(path)
        defer { server.close() }
        let client = try UnixStream.connect(path: path)
        defer { client.close() }
        await server.wait(for: 1)
    }

    @Test("Something that is not a socket is left alone")
    func notASocket() throws {
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        close(descriptor)
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == EEXIST)
        #expect(access(path, F_OK) == 0)
        #expect(access(path + ".lock", F_OK) != 0)
    }

    @Test("A path of 107 bytes is used, one of 108 refused in words", arguments: [107, 108])
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

    @Test("A directory that does not exist is named in the error")
    func noDirectory() {
        let path = directory.file("no/s")
        let error = #expect(throws: SystemError.self) { try UnixListener.bind(path: path) }
        #expect(error?.code == ENOENT)
        #expect(error?.description.contains(path) == true)
    }

    @Test("Close leaves a path alone that has become somebody else's")
    func foreignInode() throws {
        let listener = try UnixListener.bind(path: path)
        unlink(path)
        try leaveStaleSocket()
        listener.close()
        #expect(access(path, F_OK) == 0)
    }

    @Test("What waits in the kernel's queue is taken by drainBacklog, also while not accepting")
    func drain() async throws {
        let server = try Server(path)
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
        let server = try Server(path)
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

    @Test("A listening socket from elsewhere is adopted, and its path left alone at the end; others are refused")
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

    @Test("Out of descriptors, connections are turned away at once instead of hanging, and accepted again later")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await outOfDescriptors()
        }
    }

    @Test("Connections never take the last descriptors: who serves them can still open files")
    func headroom() async {
        await #expect(processExitsWith: .success) {
            try await manyConnections()
        }
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    /// A bound socket's file stays when its descriptor is closed.
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

/// In a process of its own: uses up every descriptor, connects, frees them, connects.
@LoopActor
private func outOfDescriptors() async throws {
    // The loop's thread goes on with a table of its own: libdispatch's threads end the process where they find theirs
    // full.
    typealias Unshare = @convention(c) (_ flags: CInt) -> CInt
    // `unshare` is looked up by name because Glibc's module does not show it; 0x400 is CLONE_FILES.
    guard let unshare = dlsym(nil, "unshare"), unsafeBitCast(unshare, to: Unshare.self)(0x400) == 0 else { exit(3) }
    let directory = try TemporaryDirectory()
    let server = try Server(directory.file("s"))
    server.listener.rejection = Array("full\n".utf8)
    let troubles = Troubles(of: server.listener)
    // The client's descriptor is made first; connecting needs no other.
    let waiting = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    limitDescriptors(waiting + 8)
    var fillers: [Int32] = []
    while true {
        let filler = dup(0)
        if filler < 0 { break }
        fillers.append(filler)
    }
    await troubles.next { connectRaw(waiting, directory.file("s")) }
    // Turned away: the client reads why, and an end of input.
    var words = [UInt8](repeating: 0, count: 16)
    guard read(waiting, &words, words.count) == 5, words.starts(with: Array("full\n".utf8)),
        read(waiting, &words, words.count) == 0, troubles.errors.map(\.code) == [EMFILE], troubles.turnedAway == 1,
        server.peers.isEmpty
    else { exit(2) }
    for filler in fillers { close(filler) }
    limitDescriptors(waiting + 64)
    let client = try UnixStream.connect(path: directory.file("s"))
    await server.wait(for: 1)
    client.close()
    server.close()
}

/// In a process of its own: connects until the listener takes no more, and looks at what is left.
@LoopActor
private func manyConnections() async throws {
    let directory = try TemporaryDirectory()
    let server = try Server(directory.file("s"))
    let troubles = Troubles(of: server.listener)
    // The clients' descriptors are made first, below those that the listener's side will have.
    let clients = (0..<64).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    let limit = clients[63] + 1 + 64
    limitDescriptors(limit)
    await troubles.next {
        for client in clients { connectRaw(client, directory.file("s")) }
    }
    guard server.peers.count + troubles.turnedAway == 64, troubles.errors.map(\.code) == [EMFILE] else { exit(2) }
    var left = 0
    while dup(0) >= 0 { left += 1 }
    // Less than the 32, because other threads of the process open some as well.
    guard left >= 24 else { exit(4) }
    for client in clients { close(client) }
    server.close()
}

private func limitDescriptors(_ count: Int32) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = rlim_t(count)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// What a listener says when it turns connections away.
@LoopActor
private final class Troubles {
    private(set) var errors: [SystemError] = []
    private(set) var turnedAway = 0
    private var waiting: CheckedContinuation<Void, Never>?

    init(of listener: UnixListener) {
        listener.onTrouble = { error, count in
            self.errors.append(error)
            self.turnedAway += count
            self.waiting?.resume()
            self.waiting = nil
        }
    }

    /// Does `body`, then waits until the listener has said something.
    func next(_ body: () -> Void) async {
        await withCheckedContinuation { continuation in
            waiting = continuation
            body()
        }
    }
}

private func connectRaw(_ descriptor: Int32, _ path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    _ = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// A listener that keeps what it accepts.
@LoopActor
private final class Server {
    let listener: UnixListener
    private(set) var streams: [UnixStream] = []
    private(set) var peers: [PeerCredentials] = []
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(_ path: String) throws {
        listener = try UnixListener.bind(path: path)
        listener.onAccept = { [weak self] socket, peer in
            guard let self, let stream = try? UnixStream(adopting: socket) else { return }
            streams.append(stream)
            peers.append(peer)
            if let waiting, peers.count >= waiting.count {
                self.waiting = nil
                waiting.continuation.resume()
            }
        }
        listener.startAccepting()
    }

    func wait(for count: Int) async {
        if peers.count >= count { return }
        await withCheckedContinuation { waiting = (count, $0) }
    }

    func close() {
        listener.close()
        for stream in streams { stream.close() }
    }
}
