import BridgeJSON
import EventLoop

/// Whose calls a provided task takes.
public enum ProviderScope: String, Sendable, Hashable {
    /// Those of everybody whom the daemon's rules allow.
    case any
    /// Only those that name this session.
    case session
}

/// What a provided task does with a call: returns the result, or throws.
public typealias TaskHandler = @Sendable (IncomingCall) async throws -> JSON

/// A call of a task that this client provides.
public struct IncomingCall: Sendable {
    /// Who calls, as the daemon says.
    public struct Caller: Sendable, Hashable {
        /// The caller's session; 0: the daemon or a plugin.
        public var session: UInt64
        /// The caller's user id; nil where the daemon does not say.
        public var uid: UInt32?
        /// What the session speaks for; "local" unless it named something else.
        public var origin: String
        /// The logged-in user.
        public var user: String?
    }

    /// The task's name.
    public let task: String
    /// The options as they came.
    public let options: JSON
    /// Who calls.
    public let caller: Caller
    /// How long the caller still waits; nil: without end.
    public let timeout: Duration?
    /// Whether the caller takes intermediate results; without it `progress(_:)` does nothing.
    public let wantsProgress: Bool
    /// Nobody hears what becomes of the call.
    public let isOneWay: Bool

    let report: @Sendable (JSON) async -> Void

    /// Sends an intermediate result. Waits while much output is waiting to be read by the daemon.
    public func progress(_ value: JSON) async {
        if wantsProgress, !isOneWay { await report(value) }
    }

    /// The options as a Swift type.
    /// - Throws: `options.invalid`, which the handler may let through.
    public func options<Options: Decodable>(as type: Options.Type) throws(BridgeError) -> Options {
        do throws(JSONMismatch) {
            return try JSONCoding.decode(type, from: options, unknownKeys: .refuse)
        } catch {
            throw BridgeError(error)
        }
    }
}

extension IncomingCall.Caller {
    init(_ json: JSON?) {
        session = json?["session"]?.int64Value.flatMap { UInt64(exactly: $0) } ?? 0
        uid = json?["uid"]?.int64Value.flatMap { UInt32(exactly: $0) }
        origin = json?["origin"]?.stringValue ?? "local"
        user = json?["user"]?.stringValue
    }
}
