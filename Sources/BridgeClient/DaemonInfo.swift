public import BridgeJSON

/// What a daemon says of itself when a session begins.
public struct DaemonInfo: Sendable, Hashable {
    /// What a session may have.
    public struct Limits: Sendable, Hashable {
        /// The longest message that the daemon takes, without its line end.
        public var messageBytes: Int
        /// How many calls of a session may be in flight; nil where the daemon does not say.
        public var callsInFlight: Int?
        /// How long a call without any other timeout may take; nil where the daemon does not say.
        public var callTimeout: Duration?
    }

    /// The version of the protocol.
    public let protocolVersion: Int
    /// The number of this session; another one after each new connection.
    public let session: SessionID
    /// The name of the daemon's program.
    public let name: String
    /// The daemon's version.
    public let version: String
    /// What the daemon can do, such as `progress`.
    public let features: [String]
    /// What this session may have.
    public let limits: Limits
    /// All that the daemon said, as it came.
    public let json: JSON

    /// Reads the result of `bridge.hello`; nil where it names no session or no daemon.
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

    /// What a daemon takes that is not configured otherwise.
    static let defaultMessageBytes = 1 << 20
}
