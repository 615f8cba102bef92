import EventLoop
import Glibc
import Testing

@Suite("A bundle of descriptors")
struct DescriptorBundleTests {
    private func inode(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Creates a pipe and returns both ends.
    private func pipeEnds() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    @Test(
        "returns its descriptors in order and close-on-exec, also more than one message can carry",
        arguments: [0, 1, 600])
    func content(count: Int) throws {
        let ends = try pipeEnds()
        defer { for end in ends { close(end) } }
        let put = (0..<count).map { ends[$0 % 2] }
        let parcel = try DescriptorBundle.make(of: put)
        var taken: [Int32] = []
        try parcel.unpack { taken.append($0) }
        defer { for descriptor in taken { close(descriptor) } }
        #expect(taken.map(inode) == put.map(inode))
        #expect(Set(taken).isDisjoint(with: put))
        #expect(taken.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    }

    @Test("keeps its content while any copy of its descriptor exists, and returns it once")
    func copies() throws {
        let ends = try pipeEnds()
        let copy: Int32
        do {
            let parcel = try DescriptorBundle.make(of: ends)
            copy = dup(parcel.descriptor)
        }
        for end in ends { close(end) }
        let kept = DescriptorBundle(adopting: copy)
        var taken: [Int32] = []
        try kept.unpack { taken.append($0) }
        defer { for descriptor in taken { close(descriptor) } }
        try #require(taken.count == 2)
        #expect(write(taken[1], "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(taken[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
        try kept.unpack { _ in Issue.record("there was something left") }
    }

    @Test("releases its content with its last copy")
    func end() throws {
        let ends = try pipeEnds()
        defer { close(ends[0]) }
        do { _ = try DescriptorBundle.make(of: [ends[1]]) }
        close(ends[1])
        // No writer is left, once children that other tests are starting have closed their copies.
        var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&state, 1, 30_000) == 1 && Int32(state.revents) & POLLHUP != 0)
    }

    @Test("reports an invalid descriptor and an invalid bundle")
    func faults() throws {
        #expect(throws: SystemError.self) { _ = try DescriptorBundle.make(of: [1_000_000]) }
        let ends = try pipeEnds()
        defer { close(ends[1]) }
        let none = DescriptorBundle(adopting: ends[0])
        let error = #expect(throws: SystemError.self) { try none.unpack { _ in } }
        #expect(error?.code == ENOTSOCK)
    }
}

@Suite("Files in memory")
struct MemoryFileTests {
    @Test("have mode 0600, so that only their owner can open them through /proc")
    func mode() throws {
        let file = try MemoryFile.make(named: "test", content: [1, 2, 3])
        let copy = try MemoryFile.copy(of: "/proc/self/exe", named: "copy")
        for descriptor in [file.descriptor, copy.descriptor] {
            var status = stat()
            #expect(fstat(descriptor, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        #expect(try file.content(limitBytes: 3) == [1, 2, 3])
    }
}
