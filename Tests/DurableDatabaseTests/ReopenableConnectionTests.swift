import DurableDatabase
import Synchronization
import Testing

@Suite("A connection that is opened again after a failure")
struct ReopenableConnectionTests {
    private struct Failure: Error, Equatable {
        var name: String
    }

    /// What each connection was opened after, in order.
    private final class Openings: Sendable {
        private let causes = Mutex<[String?]>([])
        var all: [String?] { causes.withLock { $0 } }
        func add(_ cause: Failure?) { causes.withLock { $0.append(cause?.name) } }
    }

    private let openings = Openings()

    /// - Parameter refusal: What opening fails with.
    private func make(_ opened: String? = nil, refusal: Failure? = nil) -> ReopenableConnection<String, Failure> {
        ReopenableConnection(opened) { [openings] cause throws(Failure) in
            openings.add(cause)
            if let refusal { throw refusal }
            return "made"
        }
    }

    @Test("It is opened when it is first needed, and once")
    func first() throws {
        var connection = make()
        #expect(connection.opened == nil)
        for _ in 1...2 { #expect(try connection.usable() == "made") }
        #expect(openings.all == [nil])
    }

    @Test("One that is open already is not opened")
    func given() throws {
        var connection = make("given")
        #expect(try connection.usable() == "given")
        #expect(openings.all == [])
    }

    @Test("After a failure it is taken out, and opened with the failure's error when it is needed")
    func failed() throws {
        var connection = make("given")
        #expect(connection.fail(Failure(name: "fsync")) == "given")
        #expect(connection.opened == nil)
        #expect(try connection.usable() == "made")
        #expect(openings.all == ["fsync"])
    }

    @Test("Where it cannot be opened the error is thrown, and each use tries again with the failure's error")
    func notOpened() throws {
        var connection = make("given", refusal: Failure(name: "refused"))
        _ = connection.fail(Failure(name: "fsync"))
        for _ in 1...2 { #expect(throws: Failure(name: "refused")) { try connection.usable() } }
        #expect(openings.all == ["fsync", "fsync"])
    }

    @Test("One that was opened beside it takes its place")
    func next() throws {
        var connection = make("given")
        #expect(connection.fail(Failure(name: "fsync"), next: "next") == "given")
        #expect(try connection.usable() == "next")
        #expect(openings.all == [])
    }

    @Test("One that was taken out is opened as if for the first time")
    func taken() throws {
        var connection = make("given")
        #expect(connection.take() == "given")
        #expect(connection.take() == nil)
        #expect(try connection.usable() == "made")
        #expect(openings.all == [nil])
    }
}
