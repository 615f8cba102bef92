import DurableDatabase
import Synchronization
import Testing

@Suite("A connection that is reopened after a failure")
struct ReopenableConnectionTests {
    private struct Failure: Error, Equatable {
        var name: String
    }

    /// The failure before each opening, in order; `nil` for none.
    private final class Openings: Sendable {
        private let causes = Mutex<[String?]>([])
        var all: [String?] { causes.withLock { $0 } }
        func add(_ cause: Failure?) { causes.withLock { $0.append(cause?.name) } }
    }

    private let openings = Openings()

    /// - Parameter refusal: The error that opening throws; `nil` if it succeeds.
    private func make(_ opened: String? = nil, refusal: Failure? = nil) -> ReopenableConnection<String, Failure> {
        ReopenableConnection(opened) { [openings] cause throws(Failure) in
            openings.add(cause)
            if let refusal { throw refusal }
            return "made"
        }
    }

    @Test("is opened once, at its first use")
    func first() throws {
        var connection = make()
        #expect(connection.opened == nil)
        for _ in 1...2 { #expect(try connection.usable() == "made") }
        #expect(openings.all == [nil])
    }

    @Test("is not opened if it is open already")
    func given() throws {
        var connection = make("given")
        #expect(try connection.usable() == "given")
        #expect(openings.all == [])
    }

    @Test("is removed by a failure, and reopened with that error at the next use")
    func failed() throws {
        var connection = make("given")
        #expect(connection.fail(Failure(name: "fsync")) == "given")
        #expect(connection.opened == nil)
        #expect(try connection.usable() == "made")
        #expect(openings.all == ["fsync"])
    }

    @Test("throws if it cannot be opened, and tries again at each use with the failure's error")
    func notOpened() throws {
        var connection = make("given", refusal: Failure(name: "refused"))
        _ = connection.fail(Failure(name: "fsync"))
        for _ in 1...2 { #expect(throws: Failure(name: "refused")) { try connection.usable() } }
        #expect(openings.all == ["fsync", "fsync"])
    }

    @Test("is replaced by a connection that was opened beside it")
    func next() throws {
        var connection = make("given")
        #expect(connection.fail(Failure(name: "fsync"), next: "next") == "given")
        #expect(try connection.usable() == "next")
        #expect(openings.all == [])
    }

    @Test("is opened as for the first time after it was taken")
    func taken() throws {
        var connection = make("given")
        #expect(connection.take() == "given")
        #expect(connection.take() == nil)
        #expect(try connection.usable() == "made")
        #expect(openings.all == [nil])
    }
}
