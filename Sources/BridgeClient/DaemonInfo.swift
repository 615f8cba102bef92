public import BridgeJSON

/// A daemon's description of itself, received when a session begins.
public struct DaemonInfo: Sendable, Hashable {
    /// The limits of a session.
    public struct Limits: Sendable, Hashable {
        /// The maximum length of a message that the daemon accepts, without its line end.
        public var messageBytes: Int
        /// How many calls of a session may be in flight; `nil` if the daemon does not specify it.
        public var callsInFlight: Int?
        /// How long a call without any other timeout may take; `nil` if the daemon does not specify it.
        public var callTimeout: Duration?
    }

    /// The protocol version.
    public let protocolVersion: Int
    /// The number of this session; each new connection has another one.
    public let session: SessionID
    /// The name of the daemon's program.
    public let name: String
    /// The daemon's version.
    public let version: String
    /// The features that the daemon supports, such as `progress`.
    public let features: [String]
    /// The limits of this session.
    public let limits: Limits
    /// The complete answer of the daemon, unchanged.
    public let json: JSON

    /// Reads the result of `bridge.hello`; `nil` if it names no session or no daemon.
    init?(_ json: JSON) {
        guard let session = SessionID(json["session"]),
            let name = json["daemon"]?["name"]?.stringValue, let version = json["daemon"]?["version"]?.stringValue
        else { return nil }
        self.json = json
        self.session = session
        self.name = name
        self.version = version
        protocolVersion = json["protocol"]?.int64Value.map { Int($0) } ?? 1
        features = (json["features"]?.arrayValue ?? []).compactMap(\.stringValue)
        let limits = json["limits"]
        self.limits = Limits(
            messageBytes: limits?["messageBytes"]?.int64Value.map { Int($0) } ?? Self.defaultMessageBytes,
            callsInFlight: limits?["callsInFlight"]?.int64Value.map { Int($0) },
            callTimeout: limits?["callTimeoutMs"]?.int64Value.map { .milliseconds($0) })
    }

    /// The maximum message length of a daemon with the default configuration.
    static let defaultMessageBytes = 1 << 20
}
