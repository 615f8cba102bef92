public import BridgeMessage
import Synchronization

/// The metrics that a plugin publishes: declared by name, kept here, read when a client asks for the daemon's status.
/// Setting one is a store into memory: no lock, no allocation, no wake-up of the loop. Any thread.
public final class PluginMetrics: Sendable {
    private static let capacity = MetricDeclarations.capacity

    private let declarations = Mutex(MetricDeclarations())
    /// The bits of the values, by number. Allocated once, so that code that sets one does not need the lock.
    ///
    /// `nonisolated(unsafe)`: the pointer never changes, what it points to is atomic.
    private nonisolated(unsafe) let values: UnsafeMutablePointer<Atomic<UInt64>>  // constant

    init() {
        values = .allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity { (values + index).initialize(to: Atomic(0.0.bitPattern)) }
    }

    deinit {
        values.deinitialize(count: Self.capacity)
        values.deallocate()
    }

    /// Enters a metric, or finds the one of that name and unit.
    ///
    /// - Returns: its number, from 1 on.
    /// - Throws: ``MetricRefusal``, as ``MetricDeclarations/declare(_:)``.
    public func declare(_ new: MetricDeclaration) throws(MetricRefusal) -> Int {
        // The closure's own errors would be of any type.
        let outcome = declarations.withLock { known in
            Result { () throws(MetricRefusal) -> Int in try known.declare(new) }
        }
        return try outcome.get()
    }

    /// Sets a metric. A number that was not given out does nothing.
    public func set(_ number: Int, _ value: Double) {
        cell(number)?.pointee.store(value.bitPattern, ordering: .relaxed)
    }

    /// Adds to a metric, which several threads may do in parallel.
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

    /// All of them, in the order in which they were declared.
    var all: [PluginMetric] {
        declarations.withLock { $0.all }.enumerated().map { index, declaration in
            PluginMetric(
                declaration: declaration, value: Double(bitPattern: values[index].load(ordering: .relaxed)))
        }
    }
}

/// A metric of a plugin, as it was when it was read.
struct PluginMetric {
    let declaration: MetricDeclaration
    let value: Double
}
