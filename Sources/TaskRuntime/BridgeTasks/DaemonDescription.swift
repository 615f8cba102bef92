/// The daemon's description of itself in `bridge.hello` and `bridge.status`.
public struct DaemonDescription: Sendable {
    /// The version of the protocol.
    public static let protocolVersion = 1

    /// The daemon's version, such as "0.1.0".
    public var version: String
    /// Its process id.
    public var pid: Int32

    /// A description.
    public init(version: String, pid: Int32) {
        self.version = version
        self.pid = pid
    }
}
