internal import CTaskPlugin

/// The unit of a metric: a base unit, never `milliseconds` or `kilobytes`.
public struct MetricUnit: RawRepresentable, Sendable, Hashable {
    /// The unit's name: lower-case letters, digits and `_`.
    public var rawValue: String

    /// Creates a unit with another name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The unit of sizes.
    public static let bytes = MetricUnit(rawValue: "bytes")
    /// The unit of durations.
    public static let seconds = MetricUnit(rawValue: "seconds")
    /// The unit of fractions, 0 to 1.
    public static let ratio = MetricUnit(rawValue: "ratio")
}

/// A metric that goes up and down, such as the length of a queue. Any thread.
///
/// Setting it is one store into memory, cheap enough for every change; it wakes no thread. Operators can read it in
/// `trestle status` and `bridge.metrics`.
public struct Gauge: Sendable {
    private let metric: MetricHandle

    /// Creates a gauge that is not published, for an object that is created before its plugin starts.
    public init() { metric = MetricHandle() }

    init(_ metric: MetricHandle) { self.metric = metric }

    /// Sets the gauge.
    public func set(_ value: Double) { metric.set(value) }
    /// Sets the gauge.
    public func set(_ value: Int) { metric.set(Double(value)) }
    /// Sets a gauge whose unit is seconds.
    public func set(_ value: Duration) { metric.set(value.seconds) }
    /// Adds to the gauge; threads may do so in parallel.
    public func add(_ amount: Double) { metric.add(amount) }
    /// Adds to the gauge; threads may do so in parallel.
    public func add(_ amount: Int) { metric.add(Double(amount)) }
}

/// A metric that only grows, from 0 at the plugin's start, such as a number of events or a total duration. Any thread;
/// as cheap as a gauge.
public struct Counter: Sendable {
    private let metric: MetricHandle

    /// Creates a counter that is not published.
    public init() { metric = MetricHandle() }

    init(_ metric: MetricHandle) { self.metric = metric }

    /// Adds to the counter. Ignores amounts of 0 and less.
    public func add(_ amount: Double) { if amount > 0 { metric.add(amount) } }
    /// Adds to the counter. Ignores amounts of 0 and less.
    public func add(_ amount: Int = 1) { add(Double(amount)) }
    /// Adds to a counter whose unit is seconds.
    public func add(_ amount: Duration) { add(amount.seconds) }
}

/// A metric in the daemon's memory, by its number there; 0 for none.
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
    /// Publishes a gauge. Calls with the same name and unit return the same gauge.
    ///
    /// An invalid name, or more than the 64 metrics that a plugin may have, is reported in the log. The returned gauge
    /// is then not published.
    ///
    /// - Parameters:
    ///   - name: Lower-case letters, digits and `_`, beginning with a letter, at most 64, without the unit: `queue`.
    ///   - help: One sentence for an operator.
    ///   - unit: The unit; `nil` for a number of things.
    public func gauge(_ name: String, _ help: String, unit: MetricUnit? = nil) -> Gauge {
        Gauge(runtime.host.metric(name, help, unit, kind: TRESTLE_METRIC_GAUGE))
    }

    /// Publishes a counter; see `gauge`. `_total` is appended to its name for monitoring systems.
    public func counter(_ name: String, _ help: String, unit: MetricUnit? = nil) -> Counter {
        Counter(runtime.host.metric(name, help, unit, kind: TRESTLE_METRIC_COUNTER))
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
