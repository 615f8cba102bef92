import EventLoop
import Glibc
import Testing

@Suite("A listener without free descriptors", .timeLimit(.minutes(20))) @LoopActor struct ListenerDescriptorTests {
    @Test("Rejects connections at once if no descriptor is free, and accepts them again later")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await outOfDescriptors()
        }
    }

    @Test("Leaves descriptors free for other use when there are many connections")
    func headroom() async {
        await #expect(processExitsWith: .success) {
            try await manyConnections()
        }
    }
}

/// Runs in its own process: uses up every descriptor, connects, frees them, and connects again.
@LoopActor
private func outOfDescriptors() async throws {
    // The loop thread gets its own descriptor table, because libdispatch's threads end the process if theirs is full.
    typealias Unshare = @convention(c) (_ flags: CInt) -> CInt
    // `unshare` is looked up by name because Glibc's module does not show it; 0x400 is CLONE_FILES.
    guard let unshare = dlsym(nil, "unshare"), unsafeBitCast(unshare, to: Unshare.self)(0x400) == 0 else { exit(3) }
    let directory = try TemporaryDirectory()
    let server = try KeepingServer(directory.file("s"))
    server.listener.rejection = Array("full\n".utf8)
    let troubles = Troubles(of: server.listener)
    // The client's descriptor is created first; connecting needs no other.
    let waiting = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    limitDescriptors(waiting + 8)
    var fillers: [Int32] = []
    while true {
        let filler = dup(0)
        if filler < 0 { break }
        fillers.append(filler)
    }
    await troubles.next { connectRaw(waiting, directory.file("s")) }
    // Rejected: the client reads the reason and the end of input.
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

/// Runs in its own process: connects until the listener rejects connections, and counts the free descriptors.
@LoopActor
private func manyConnections() async throws {
    let directory = try TemporaryDirectory()
    let server = try KeepingServer(directory.file("s"))
    let troubles = Troubles(of: server.listener)
    // The clients' descriptors are created first, below those of the listener's side.
    let clients = (0..<64).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    let limit = clients[63] + 1 + 64
    limitDescriptors(limit)
    await troubles.next {
        for client in clients { connectRaw(client, directory.file("s")) }
    }
    guard server.peers.count + troubles.turnedAway == 64, troubles.errors.map(\.code) == [EMFILE] else { exit(2) }
    var left = 0
    while dup(0) >= 0 { left += 1 }
    // 24 instead of the reserved 32, because other threads of the process open some as well.
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

/// The errors and counts that a listener reports when it rejects connections.
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

    /// Runs `body`, then waits until the listener has reported an error.
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
