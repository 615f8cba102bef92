import BridgeMessage
import TaskRuntime

/// The metrics of the processes of a plugin, put together: a counter is the sum over all processes that there
/// were, a gauge the sum over those that there are. Loop thread only.
struct PluginProcessMetrics {
    private struct Metric {
        let kind: MetricDeclaration.Kind
        /// What processes counted that are gone, or that began again.
        var past = 0.0
        /// The last value of each process.
        var last: [ObjectIdentifier: Double] = [:]

        var value: Double { last.values.reduce(past, +) }
    }

    /// By their numbers.
    private var metrics: [Int: Metric] = [:]

    /// A process sends a metric.
    ///
    /// - Throws: ``MetricRefusal`` where it is none of the plugin's.
    mutating func take(
        _ declaration: MetricDeclaration, _ value: Double, from link: PluginProcessLink, into all: PluginMetrics
    ) throws(MetricRefusal) {
        let number = try all.declare(declaration)
        var metric = metrics[number] ?? Metric(kind: declaration.kind)
        let before = metric.last.updateValue(value, forKey: ObjectIdentifier(link)) ?? 0
        // It counts from 0 again.
        if metric.kind == .counter, value < before { metric.past += before }
        metrics[number] = metric
        all.set(number, metric.value)
    }

    /// The process is no longer there.
    mutating func forget(_ link: PluginProcessLink, in all: PluginMetrics?) {
        for number in metrics.keys {
            guard let last = metrics[number]?.last.removeValue(forKey: ObjectIdentifier(link)) else { continue }
            if metrics[number]?.kind == .counter { metrics[number]?.past += last }
            if let metric = metrics[number] { all?.set(number, metric.value) }
        }
    }
}
