import BridgeJSON
import BridgeMessage
import EventLoop
import Synchronization

/// The metrics that a plugin sets. Changed metrics are sent to the daemon once a second. Any thread.
final class IsolatedPluginMetrics: Sendable {
    private struct Metric {
        var value = 0.0
        var isChanged = true
    }

    private struct State {
        /// The declared metrics. The daemon uses the same rules and would refuse the same metrics later.
        var declared = MetricDeclarations()
        /// The values of the metrics, in the same order.
        var metrics: [Metric] = []
    }

    private static let interval = Duration.seconds(1)
    private let state = Mutex(State())

    /// Declares a metric. A metric with the same name and unit is the same metric.
    ///
    /// - Returns: The metric's number, from 1.
    /// - Throws: ``MetricRefusal`` if it cannot be published.
    func declare(_ new: MetricDeclaration) throws(MetricRefusal) -> UInt32 {
        // The closure returns a `Result`, because its thrown errors would have any type.
        let outcome = state.withLock { state in
            Result { () throws(MetricRefusal) -> UInt32 in
                let number = try state.declared.declare(new)
                if number > state.metrics.count { state.metrics.append(Metric()) }
                return UInt32(number)
            }
        }
        return try outcome.get()
    }

    func set(_ number: UInt32, _ value: Double) { change(number) { $0 = value } }

    func add(_ number: UInt32, _ amount: Double) { change(number) { $0 += amount } }

    private func change(_ number: UInt32, _ change: (inout Double) -> Void) {
        state.withLock { state in
            guard number > 0, number <= state.metrics.count else { return }
            change(&state.metrics[Int(number) - 1].value)
            state.metrics[Int(number) - 1].isChanged = true
        }
    }

    /// Begins to report changed metrics, and the loop's lag in whole milliseconds, until the process ends.
    @LoopActor
    func publish(_ report: @escaping (JSON) -> Void) {
        var timer: LoopTimer?
        var reportedLag: Int64 = 0
        timer = LoopTimer { [self] in
            var changed = takeChanges()?.objectValue ?? [:]
            let lag = Int64(EventLoop.lag / .milliseconds(1))
            if lag != reportedLag { changed["lagMs"] = .number(JSONNumber(lag)) }
            reportedLag = lag
            if !changed.isEmpty { report(.object(changed)) }
            timer?.schedule(after: Self.interval)
        }
        timer?.schedule(after: Self.interval)
    }

    /// Returns the metrics that have changed since the last call; `nil` if none has.
    func takeChanges() -> JSON? {
        state.withLock { state in
            var changed: [JSON] = []
            for (index, declared) in state.declared.all.enumerated() where state.metrics[index].isChanged {
                state.metrics[index].isChanged = false
                var metric: JSONObject = [
                    "name": .string(declared.name), "kind": .string(declared.kind.rawValue),
                    "help": .string(declared.help),
                    "value": .number(JSONNumber(state.metrics[index].value) ?? JSONNumber(0)),
                ]
                metric["unit"] = declared.unit.map { .string($0) }
                changed.append(.object(metric))
            }
            return changed.isEmpty ? nil : ["metrics": .array(changed)]
        }
    }
}
