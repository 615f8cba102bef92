import Glibc
import TaskKit
import Testing

@testable import FetchTasks

@Suite("The outlet of a body into a pipe")
struct PipeOutletTests {
    /// A non-blocking pipe.
    private final class Pipe {
        let reader: Int32
        let writer: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
            for end in ends { #expect(fcntl(end, F_SETFL, O_NONBLOCK) == 0 && fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        }

        deinit {
            close(reader)
            close(writer)
        }

        /// Reads all available bytes.
        func read() -> [UInt8] {
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while case let count = Glibc.read(reader, &piece, piece.count), count > 0 { all += piece[..<count] }
            return all
        }
    }

    private static func put(_ bytes: [UInt8], _ outlet: inout PipeOutlet) throws(BridgeError) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(BridgeError) in try outlet.put(bytes) }
        }.get()
    }

    @Test("accepts all bytes, keeps those that do not fit in the pipe, and writes them later in order")
    func order() throws {
        let pipe = Pipe()
        var outlet = PipeOutlet(pipe.writer)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for start in stride(from: 0, to: bytes.count, by: 100_000) {
            try Self.put(Array(bytes[start..<(start + 100_000)]), &outlet)
        }
        #expect(outlet.isBlocked)
        var read = pipe.read()
        while outlet.isBlocked {
            try outlet.writeRest()
            read += pipe.read()
        }
        #expect(read == bytes && outlet.byteCount == bytes.count)
    }

    @Test("writes bytes at once if they fit in the pipe")
    func room() throws {
        let pipe = Pipe()
        var outlet = PipeOutlet(pipe.writer)
        try Self.put([1, 2, 3], &outlet)
        #expect(!outlet.isBlocked && outlet.byteCount == 3)
        #expect(pipe.read() == [1, 2, 3])
    }

    @Test("throws stream.closed once the reader has closed the pipe")
    func unread() throws {
        signal(SIGPIPE, SIG_IGN)
        // A socket: its shutdown ends the reading of every copy of the descriptor. A process that another test starts
        // has a copy until its exec, and a pipe stays open for so long.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var outlet = PipeOutlet(ends[1])
        try Self.put([UInt8](repeating: 1, count: 600_000), &outlet)
        shutdown(ends[0], Int32(SHUT_RD))
        let rest = #expect(throws: BridgeError.self) { try outlet.writeRest() }
        #expect(rest?.code == .streamClosed)
    }
}
