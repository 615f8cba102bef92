import BridgeClient
import BridgeJSON

/// Sends the calls of a plan and reports the outcome of each.
struct ReplayRun: Sendable {
    let plan: ReplayPlan
    let socketPath: String
    let ignored: [IgnoredPath]
    /// The speed relative to the recording; `nil` for as fast as the order of ends allows.
    let speed: Double?

    /// A call that has ended.
    struct End: Sendable {
        var call: RecordedCall
        var outcome: Result<JSON, BridgeError>
    }

    /// The time limit of a call relative to its recorded duration, but at least the minimum. A daemon under load is not
    /// a difference, but a missing answer is.
    private static let timeoutFactor = 10
    private static let minimumTimeout = Duration.seconds(10)

    /// Runs the replay.
    ///
    /// - Parameter body: Called with each call and its comparison, in the order of ends.
    /// - Throws: An error if the daemon cannot be reached; `CancellationError`.
    func run(_ body: (RecordedCall, OutcomeComparison.Verdict) -> Void) async throws {
        var ends = ReplayEnds(plan)
        var connections = ReplayConnections(path: socketPath)
        let start = ContinuousClock.now
        let first = plan.steps.first?.call.offset ?? .zero
        let result = await withTaskGroup(of: End.self) { group in
            await Result.catching {
                for step in plan.steps {
                    while ends.front < step.after, let end = await group.next() { show(end, &ends, body) }
                    if let speed { try await Task.sleep(until: start + (step.call.offset - first) / speed) }
                    try Task.checkCancellation()
                    let client = try await connections.client(of: step.call.session)
                    if let end = await begin(step, client, &group) { show(end, &ends, body) }
                }
                while let end = await group.next() { show(end, &ends, body) }
                try Task.checkCancellation()
            }
        }
        await connections.close()
        try result.get()
    }

    private func show(
        _ end: End, _ ends: inout ReplayEnds, _ body: (RecordedCall, OutcomeComparison.Verdict) -> Void
    ) {
        ends.add(end.call.number)
        guard let recorded = end.call.outcome, !end.call.isOneWay else { return body(end.call, .unknown) }
        // The daemon's own tasks return different values each time, such as sessions and uptime.
        let isOfDaemon = end.call.task.hasPrefix("bridge.") || end.call.task == "rpc.discover"
        body(
            end.call,
            OutcomeComparison.compare(recorded, end.outcome, ignoring: ignored, outcomeIsEnough: isOfDaemon))
    }

    /// Sends a call. Returns its end if it is known immediately.
    private func begin(_ step: ReplayPlan.Step, _ client: Bridge, _ group: inout TaskGroup<End>) async -> End? {
        let call = step.call
        guard case .whole(let options) = call.options else { return nil }
        do throws(BridgeError) {
            if call.isOneWay {
                try await client.notify(call.task, options)
                return End(call: call, outcome: .success(nil))
            }
            let limit = max(call.took * Self.timeoutFactor, Self.minimumTimeout)
            let stream = try await client.callJSONWithProgress(call.task, options, timeout: limit)
            group.addTask {
                do throws(BridgeError) {
                    return End(call: call, outcome: .success(try await stream.result))
                } catch {
                    return End(call: call, outcome: .failure(error))
                }
            }
            return nil
        } catch {
            return End(call: call, outcome: .failure(error))
        }
    }
}

/// One connection for each session of the recording, opened at its first call and closed with all others.
private struct ReplayConnections {
    let path: String
    private var clients: [Int64: Bridge] = [:]

    init(path: String) { self.path = path }

    mutating func client(of session: Int64) async throws(BridgeError) -> Bridge {
        if let client = clients[session] { return client }
        let client = try await Bridge.connectOnce(to: path, as: "trestle replay")
        clients[session] = client
        return client
    }

    func close() async {
        for client in clients.values { await client.close() }
    }
}
