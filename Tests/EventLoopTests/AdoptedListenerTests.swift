import EventLoop
import Glibc
import Testing

@Suite("An adopted listening socket") @LoopActor
struct AdoptedListenerTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("s") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Creates a socket of a kind that is bound to a path or, with `@` in front, to an abstract name.
    private func bound(_ path: String, _ kind: __socket_type = SOCK_STREAM) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if path.hasPrefix("@") { name[0] = 0 } else { name.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sa_family_t>.size + name.count
        let status = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        try #require(status == 0)
        return descriptor
    }

    /// Returns the error with which the listener refuses the descriptor.
    private func refusal(_ descriptor: Int32) -> String? {
        let error = #expect(throws: SystemError.self) { try UnixListener(adopting: UnixSocket(adopting: descriptor)) }
        return error?.description
    }

    @Test("reports its path or its abstract name")
    func paths() throws {
        for path in [path, "@\(path)"] {
            let descriptor = try bound(path)
            listen(descriptor, 1)
            let listener = try UnixListener(adopting: UnixSocket(adopting: descriptor))
            #expect(listener.path == path)
            #expect(listener.isAdopted)
            listener.close()
        }
        let nameless = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Such a socket cannot be made to listen.
        #expect(listen(nameless, 1) != 0)
        close(nameless)
    }

    @Test("is non-blocking and close-on-exec")
    func flags() throws {
        let descriptor = try bound(path)
        listen(descriptor, 1)
        let listener = try UnixListener(adopting: UnixSocket(adopting: descriptor))
        defer { listener.close() }
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
    }

    @Test("of another kind is refused with an error")
    func others() throws {
        #expect(refusal(try bound(path))?.hasSuffix("a socket that does not listen (Accept=no)") == true)
        let datagram = try bound(directory.file("d"), SOCK_DGRAM)
        #expect(refusal(datagram)?.hasSuffix("a Unix socket, but not a stream socket (ListenStream=)") == true)
        let sequence = try bound(directory.file("q"), SOCK_SEQPACKET)
        listen(sequence, 1)
        #expect(refusal(sequence)?.hasSuffix("a Unix socket, but not a stream socket (ListenStream=)") == true)
        let internet = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(refusal(internet) == "listen at descriptor \(internet): it is a socket, but not a Unix socket")
        let file = open("/dev/null", O_RDONLY)
        #expect(refusal(file)?.contains("(ENOTSOCK)") == true)
        #expect(refusal(1_000_000)?.contains("(EBADF)") == true)
    }
}
