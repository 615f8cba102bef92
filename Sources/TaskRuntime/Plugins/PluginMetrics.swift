public import BridgeMessage
import Synchronization

/// The metrics that a plugin publishes: declared by name, stored here, read when a client requests the daemon's status.
/// Setting one is a store into memory: no lock, no allocation, no wake-up of the loop. Any thread.
public final class PluginMetrics: Sendable {
    private static let capacity = MetricDeclarations.capacity

    private let declarations = Mutex(MetricDeclarations())
    /// The bits of the values, by number. Allocated once, so that setting a value does not require the lock.
    private nonisolated(unsafe) let values: UnsafeMutablePointer<Atomic<UInt64>>  // constant

    init() {
        values = .allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity { (values + index).initialize(to: Atomic(0.0.bitPattern)) }
    }

    deinit {
        values.deinitialize(count: Self.capacity)
        values.deallocate()
    }

    /// Declares a metric, or finds the one with that name and unit.
    ///
    /// - Returns: Its number, from 1 on.
    /// - Throws: ``MetricRefusal``, as ``MetricDeclarations/declare(_:)``.
    public func declare(_ new: MetricDeclaration) throws(MetricRefusal) -> Int {
        // The closure's inferred error type would be `any Error`.
        let outcome = declarations.withLock { known in
            Result { () throws(MetricRefusal) -> Int in try known.declare(new) }
        }
        return try outcome.get()
    }

    /// Sets a metric. An unknown number is ignored.
    public func set(_ number: Int, _ value: Double) {
        cell(number)?.pointee.store(value.bitPattern, ordering: .relaxed)
    }

    /// Adds to a metric. Several threads may do this in parallel.
    public func add(_ number: Int, _ amount: Double) {
        guard let cell = cell(number) else { return }
        var bits = cell.pointee.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: bits) + amount).bitPattern
            let (isDone, seen) = cell.pointee.weakCompareExchange(expected: bits, desired: sum, ordering: .relaxed)
            if isDone { return }
            bits = seen
        }
    }

    private func cell(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>>? {
        (1...Self.capacity).contains(number) ? values + (number - 1) : nil
    }

    /// All metrics, in the order in which they were declared.
    var all: [PluginMetric] {
        declarations.withLock { $0.all }.enumerated().map { index, declaration in
            PluginMetric(
                declaration: declaration, value: Double(bitPattern: values[index].load(ordering: .relaxed)))
        }
    }
}

/// A metric of a plugin and its value when it was read.
struct PluginMetric {
    let declaration: MetricDeclaration
    let value: Double
}
