internal import CTaskPlugin

/// The unit of a metric: a base unit, never `milliseconds` or `kilobytes`.
public struct MetricUnit: RawRepresentable, Sendable, Hashable {
    /// Small letters, digits and `_`.
    public var rawValue: String

    /// A unit of another name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Of sizes.
    public static let bytes = MetricUnit(rawValue: "bytes")
    /// Of durations.
    public static let seconds = MetricUnit(rawValue: "seconds")
    /// Of shares, 0 to 1.
    public static let ratio = MetricUnit(rawValue: "ratio")
}

/// A metric that goes up and down, such as the length of a queue. Any thread.
///
/// Setting it is a store into memory, cheap enough to be done with every change; no thread is woken. Operators see it
/// in `trestle status` and `bridge.metrics`.
public struct Gauge: Sendable {
    private let metric: MetricHandle

    /// A gauge that no one sees: what an object has that was made before its plugin was started.
    public init() { metric = MetricHandle() }

    init(_ metric: MetricHandle) { self.metric = metric }

    /// Sets it.
    public func set(_ value: Double) { metric.set(value) }
    /// Sets it.
    public func set(_ value: Int) { metric.set(Double(value)) }
    /// Sets a gauge whose unit is seconds.
    public func set(_ value: Duration) { metric.set(value.seconds) }
    /// Adds to it; threads may do so in parallel.
    public func add(_ amount: Double) { metric.add(amount) }
    /// Adds to it; threads may do so in parallel.
    public func add(_ amount: Int) { metric.add(Double(amount)) }
}

/// A metric that only grows, from 0 at the plugin's start: what has happened, how long it took in all. Any thread; as
/// cheap as a gauge.
public struct Counter: Sendable {
    private let metric: MetricHandle

    /// A counter that no one sees.
    public init() { metric = MetricHandle() }

    init(_ metric: MetricHandle) { self.metric = metric }

    /// Adds to it. What is not above 0 changes nothing.
    public func add(_ amount: Double) { if amount > 0 { metric.add(amount) } }
    /// Adds to it. What is not above 0 changes nothing.
    public func add(_ amount: Int = 1) { add(Double(amount)) }
    /// Adds to a counter whose unit is seconds.
    public func add(_ amount: Duration) { add(amount.seconds) }
}

/// A metric in the daemon's memory, by its number there; 0: none.
struct MetricHandle: Sendable {
    private let host: Host?
    private let number: UInt32

    init(host: Host? = nil, number: UInt32 = 0) {
        self.host = host
        self.number = number
    }

    func set(_ value: Double) { if number > 0 { host?.setMetric(number, value) } }
    func add(_ amount: Double) { if number > 0 { host?.addToMetric(number, amount) } }
}

extension PluginContext {
    /// Publishes a gauge. The same name and unit are the same gauge, however often it is asked for.
    ///
    /// A name that is none, or one metric more than the 64 that a plugin may have, is reported in the log; the gauge is
    /// one that no one sees then, as with a daemon that does not know metrics yet.
    ///
    /// - Parameters:
    ///   - name: Small letters, digits and `_`, beginning with a letter, at most 64, without the unit: `queue`.
    ///   - help: One sentence for an operator.
    ///   - unit: Nil: it counts things.
    public func gauge(_ name: String, _ help: String, unit: MetricUnit? = nil) -> Gauge {
        Gauge(runtime.host.metric(name, help, unit, kind: TRESTLE_METRIC_GAUGE))
    }

    /// Publishes a counter; see `gauge`. `_total` is added to its name where monitoring systems want it.
    public func counter(_ name: String, _ help: String, unit: MetricUnit? = nil) -> Counter {
        Counter(runtime.host.metric(name, help, unit, kind: TRESTLE_METRIC_COUNTER))
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
