/// A connection that is opened when it is first needed, and again after a failure of the storage: what a failure left
/// behind in it is not trusted. Who takes it out closes it.
///
/// Used by one thread at a time.
public struct ReopenableConnection<Connection, Failure: Error> {
    fileprivate enum State {
        case unopened
        case open(Connection)
        /// To be opened again; the error that the storage failed with.
        case failed(Failure)
    }

    private var state: State
    private let open: @Sendable (Failure?) throws(Failure) -> Connection

    /// - Parameters:
    ///   - connection: Where it is open already.
    ///   - open: Opens it. Gets the error that the storage failed with, where it is opened again.
    public init(
        _ connection: Connection? = nil, open: @escaping @Sendable (_ cause: Failure?) throws(Failure) -> Connection
    ) {
        state = connection.map(State.open) ?? .unopened
        self.open = open
    }

    /// The connection; nil: it is not open.
    public var opened: Connection? { if case .open(let connection) = state { connection } else { nil } }

    /// The connection, opened if need be.
    public mutating func usable() throws(Failure) -> Connection {
        let connection: Connection
        switch state {
        case .open(let open): return open
        case .unopened: connection = try open(nil)
        case .failed(let cause): connection = try open(cause)
        }
        state = .open(connection)
        return connection
    }

    /// Takes the connection out, after a failure of the storage.
    ///
    /// - Parameter next: What takes its place, opened before the failed one is closed: the last one takes the log's
    ///   index along, and a full disk has no room for another. Nil: it is opened when it is needed.
    public mutating func fail(_ failure: Failure, next: Connection? = nil) -> Connection? {
        defer { state = next.map(State.open) ?? .failed(failure) }
        return opened
    }

    /// Takes the connection out. It is opened again when it is needed.
    public mutating func take() -> Connection? {
        defer { state = .unopened }
        return opened
    }
}

extension ReopenableConnection: Sendable where Connection: Sendable {}
extension ReopenableConnection.State: Sendable where Connection: Sendable {}
