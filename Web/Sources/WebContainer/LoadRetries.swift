public import WebKitViews

/// Counts the retries of a load that the engine has ended by itself, without a reason in the load.
///
/// The engine connects to a server before the load's request needs the connection. It may refuse the server's
/// certificate on that connection while the load takes the connection over. It then cancels the load's transport: the
/// load fails with GIO's error of a cancelled operation, and not with the certificate's error.
public struct LoadRetries: Sendable, Hashable {
    /// The maximum number of retries in a row.
    public static let maximum = 3

    private var count = 0

    /// Creates a count of zero.
    public init() {}

    /// Returns whether a failed load begins again.
    ///
    /// - Parameter failure: The failure of the load.
    public mutating func admits(_ failure: LoadFailure) -> Bool {
        // G_IO_ERROR_CANCELLED. Loads that the container cancels fail with an error of WebKit's own.
        guard failure.domain == "g-io-error-quark", failure.number == 19, count < Self.maximum else { return false }
        count += 1
        return true
    }

    /// Resets the count: a document has arrived, or a load failed for a reason of its own.
    public mutating func reset() { count = 0 }
}
