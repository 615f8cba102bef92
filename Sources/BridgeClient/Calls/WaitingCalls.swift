import BridgeJSON
import EventLoop

/// A bounded queue of calls that wait for a connection.
@LoopActor
struct WaitingCalls {
    private let maximumCalls: Int
    private let maximumBytes: Int
    private var entries: [(call: CallInFlight, bytes: Int)] = []
    private var bytes = 0

    /// The `retryAfter` of the error if too many calls wait: about as long as the first attempts to connect take.
    private static let retryAfter = Duration.seconds(1)

    init(_ reconnection: Reconnection?) {
        maximumCalls = reconnection?.maximumWaitingCalls ?? 0
        maximumBytes = reconnection?.maximumWaitingBytes ?? 0
    }

    /// - Parameter messageBytes: The length of the call's message.
    /// - Throws: `busy`.
    mutating func append(_ call: CallInFlight, messageBytes: Int) throws(BridgeError) {
        guard entries.count < maximumCalls, bytes + messageBytes <= maximumBytes else {
            throw BridgeError(
                .busy, "\(entries.count) calls with \(bytes) bytes wait for a connection to the daemon, the maximum",
                data: ["started": false], isTransient: true, retryAfter: Self.retryAfter)
        }
        entries.append((call, messageBytes))
        bytes += messageBytes
    }

    /// Removes a call. Returns whether it was in the queue.
    mutating func remove(_ call: CallInFlight) -> Bool {
        guard let index = entries.firstIndex(where: { $0.call === call }) else { return false }
        bytes -= entries.remove(at: index).bytes
        return true
    }

    mutating func takeAll() -> [CallInFlight] {
        defer { (entries, bytes) = ([], 0) }
        return entries.map(\.call)
    }
}
