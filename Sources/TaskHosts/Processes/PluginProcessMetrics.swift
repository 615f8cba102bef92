import BridgeMessage
import TaskRuntime

/// The combined metrics of the processes of a plugin: a counter is the sum over all processes so far, a gauge the sum
/// over the existing ones. Loop thread only.
struct PluginProcessMetrics {
    private struct Metric {
        let kind: MetricDeclaration.Kind
        /// The sum of the counts of processes that have ended, or whose counter started again.
        var past = 0.0
        /// The last value of each process.
        var last: [ObjectIdentifier: Double] = [:]

        var value: Double { last.values.reduce(past, +) }
    }

    /// The metrics by number.
    private var metrics: [Int: Metric] = [:]

    /// Stores a metric that a process has sent.
    ///
    /// - Throws: ``MetricRefusal`` if the plugin cannot have this metric.
    mutating func take(
        _ declaration: MetricDeclaration, _ value: Double, from link: PluginProcessLink, into all: PluginMetrics
    ) throws(MetricRefusal) {
        let number = try all.declare(declaration)
        var metric = metrics[number] ?? Metric(kind: declaration.kind)
        let before = metric.last.updateValue(value, forKey: ObjectIdentifier(link)) ?? 0
        // The counter has started again from 0.
        if metric.kind == .counter, value < before { metric.past += before }
        metrics[number] = metric
        all.set(number, metric.value)
    }

    /// Removes a process that has ended.
    mutating func forget(_ link: PluginProcessLink, in all: PluginMetrics?) {
        for number in metrics.keys {
            guard let last = metrics[number]?.last.removeValue(forKey: ObjectIdentifier(link)) else { continue }
            if metrics[number]?.kind == .counter { metrics[number]?.past += last }
            if let metric = metrics[number] { all?.set(number, metric.value) }
        }
    }
}
