/// A connection that is opened at its first use, and again after a failure of the storage, because the state of a
/// failed connection cannot be trusted. The caller that takes the connection out must close it.
///
/// Used by one thread at a time.
public struct ReopenableConnection<Connection, Failure: Error> {
    fileprivate enum State {
        case unopened
        case open(Connection)
        /// The connection must be opened again; the value is the error of the storage.
        case failed(Failure)
    }

    private var state: State
    private let open: @Sendable (Failure?) throws(Failure) -> Connection

    /// - Parameters:
    ///   - connection: The connection; `nil` if it is not open yet.
    ///   - open: Opens the connection. Its argument is the error of the storage if the connection is opened again, else
    ///     `nil`.
    public init(
        _ connection: Connection? = nil, open: @escaping @Sendable (_ cause: Failure?) throws(Failure) -> Connection
    ) {
        state = connection.map(State.open) ?? .unopened
        self.open = open
    }

    /// The connection; `nil` if it is not open.
    public var opened: Connection? { if case .open(let connection) = state { connection } else { nil } }

    /// Returns the connection; opens it if necessary.
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

    /// Takes the connection out after a failure of the storage.
    ///
    /// - Parameter next: The replacement, opened before the failed one is closed: closing the last connection removes
    ///   the log's index, and a full disk has no space for another one. `nil` to open a connection at the next use.
    public mutating func fail(_ failure: Failure, next: Connection? = nil) -> Connection? {
        defer { state = next.map(State.open) ?? .failed(failure) }
        return opened
    }

    /// Takes the connection out. It is opened again at the next use.
    public mutating func take() -> Connection? {
        defer { state = .unopened }
        return opened
    }
}

extension ReopenableConnection: Sendable where Connection: Sendable {}
extension ReopenableConnection.State: Sendable where Connection: Sendable {}
