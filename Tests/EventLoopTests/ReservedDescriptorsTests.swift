import Glibc
import Testing

@testable import EventLoop

@Suite("Reserved descriptors")
struct ReservedDescriptorsTests {
    @Test("A reserved descriptor is moved above the clients' descriptors and refers to the same file")
    func moved() throws {
        let opened = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        try #require(opened >= 0)
        let moved = ReservedDescriptors.moved(opened)
        defer { close(moved) }
        #expect(moved >= ReservedDescriptors.first)
        #expect(fcntl(moved, F_GETFD) & FD_CLOEXEC != 0)
        var byte: UInt8 = 1
        #expect(read(moved, &byte, 1) == 1)
        #expect(byte == 0)
    }
}
