import Glibc
import Testing

@testable import PageBridge

/// Runs serially, because one limit applies to the waiting lines of all documents that were left.
@Suite("Unsent lines of documents that were left", .serialized) @MainActor
struct PageOutputTests {
    /// An output and the daemon's end of its connection.
    private final class Document {
        let output: PageOutput
        let daemon: Int32

        @MainActor init(lineBytes: Int) {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            output = PageOutput(ends[0]) {}
            daemon = ends[1]
            output.send([UInt8](repeating: 0x78, count: lineBytes))
        }

        deinit {
            close(daemon)
        }

        /// Whether the output has closed the connection.
        var isClosed: Bool {
            var request = pollfd(fd: daemon, events: 0, revents: 0)
            return poll(&request, 1, 0) == 1 && Int32(request.revents) & Int32(POLLHUP) != 0
        }
    }

    @Test("wait; without any, the connection is closed") func wait() {
        let full = Document(lineBytes: 4 << 20)
        full.output.finish()
        #expect(!full.isClosed)
        full.output.close()
        #expect(full.isClosed)
        let empty = Document(lineBytes: 8)
        empty.output.finish()
        #expect(empty.isClosed)
    }

    @Test("wait up to 16 MiB for all documents; above that, the connection of the first document is closed")
    func bytes() {
        let documents = (0..<3).map { _ in Document(lineBytes: 7 << 20) }
        documents[0].output.finish()
        documents[1].output.finish()
        #expect(!documents[0].isClosed)
        documents[2].output.finish()
        #expect(documents.map { $0.isClosed } == [true, false, false])
        for document in documents { document.output.close() }
    }

    /// A process that is being started has a copy of each descriptor until it executes its program.
    @Test("end at once, even while a new process has a copy of the descriptor") func copy() {
        let document = Document(lineBytes: 8)
        let copy = fcntl(document.output.descriptor, F_DUPFD_CLOEXEC, 0)
        defer { close(copy) }
        document.output.finish()
        #expect(document.isClosed)
        var line = [UInt8](repeating: 0, count: 64)
        #expect(recv(document.daemon, &line, line.count, 0) == 9)
    }
}
