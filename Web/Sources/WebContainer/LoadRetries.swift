public import WebKitViews

/// How often a load begins again that the engine has ended by itself, without a reason in the load.
///
/// The engine connects to a server before the load's request needs it. Where it refuses the server's certificate on
/// that connection while the load takes the connection over, it cancels the load's transport: the load then fails with
/// GIO's error of a cancelled operation, and not with what is wrong with the certificate.
public struct LoadRetries: Sendable, Hashable {
    /// How often in succession.
    public static let maximum = 3

    private var count = 0

    /// No load has begun again yet.
    public init() {}

    /// Whether a load that failed begins again.
    ///
    /// - Parameter failure: Why it failed.
    public mutating func admits(_ failure: LoadFailure) -> Bool {
        // G_IO_ERROR_CANCELLED. Loads that somebody cancels fail with an error of WebKit's own.
        guard failure.domain == "g-io-error-quark", failure.number == 19, count < Self.maximum else { return false }
        count += 1
        return true
    }

    /// A document is there, or a load failed for a reason of its own.
    public mutating func reset() { count = 0 }
}
