import Synchronization

/// The figures that a plugin publishes: declared by name, kept here, read when somebody asks for the daemon's status.
/// Setting one is a store into memory: no lock, no allocation, no wake-up of the loop. Any thread.
public final class PluginMetrics: Sendable {
    /// How many a plugin may have: each is a line in every status.
    public static let capacity = 64

    private let declarations = Mutex<[PluginMetric.Declaration]>([])
    /// The bits of the values, by number. Allocated once, so that nobody who sets one needs the lock.
    ///
    /// `nonisolated(unsafe)`: the pointer never changes, what it points to is atomic.
    private nonisolated(unsafe) let values: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        values = .allocate(capacity: Self.capacity)
        for index in 0..<Self.capacity { (values + index).initialize(to: Atomic(0.0.bitPattern)) }
    }

    deinit {
        values.deinitialize(count: Self.capacity)
        values.deallocate()
    }

    /// Enters a figure, or finds the one of that name.
    ///
    /// - Returns: its number, from 1 on.
    /// - Throws: ``PluginMetricRefusal`` where the name or the unit is none, where the name stands for something
    ///   else, or where there are too many.
    public func declare(_ new: PluginMetric.Declaration) throws(PluginMetricRefusal) -> Int {
        try new.check()
        let outcome = declarations.withLock { known -> Result<Int, PluginMetricRefusal> in
            if let index = known.firstIndex(where: { $0.name == new.name && $0.unit == new.unit }) {
                guard known[index].kind == new.kind else {
                    return .failure(PluginMetricRefusal("\(new.name) is a \(known[index].kind.rawValue) already"))
                }
                known[index] = new
                return .success(index + 1)
            }
            guard known.count < Self.capacity else {
                return .failure(PluginMetricRefusal("a plugin has \(Self.capacity) figures at the most"))
            }
            known.append(new)
            return .success(known.count)
        }
        return try outcome.get()
    }

    /// Sets a figure. A number that was not given out does nothing.
    public func set(_ number: Int, _ value: Double) {
        cell(number)?.pointee.store(value.bitPattern, ordering: .relaxed)
    }

    /// Adds to a figure, which several threads may do at once.
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
        declarations.withLock { $0 }.enumerated().map { index, declaration in
            PluginMetric(
                declaration: declaration, value: Double(bitPattern: values[index].load(ordering: .relaxed)))
        }
    }
}

/// A figure of a plugin, as it was when it was read.
public struct PluginMetric: Sendable {
    /// What a figure does.
    public enum Kind: String, Sendable {
        /// It goes up and down.
        case gauge
        /// It only grows, from 0 at the start of the plugin.
        case counter
    }

    /// What is known of a figure before it has a value.
    public struct Declaration: Sendable {
        /// Small letters, digits and `_`, without the unit.
        public var name: String
        /// What it does.
        public var kind: Kind
        /// A base unit such as `bytes` or `seconds`; nil: it counts things.
        public var unit: String?
        /// One sentence for a person.
        public var help: String

        /// A declaration.
        public init(name: String, kind: Kind, unit: String?, help: String) {
            self.name = name
            self.kind = kind
            self.unit = unit
            self.help = help
        }

        /// Names become parts of those that monitoring systems use, which bear the unit and `total` at their end.
        fileprivate func check() throws(PluginMetricRefusal) {
            for word in [name] + (unit.map { [$0] } ?? []) {
                let isWord =
                    word.utf8.first.map(Self.isLetter) == true && word.utf8.count <= 64
                    && word.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
                guard isWord else {
                    throw PluginMetricRefusal(
                        "\"\(word.prefix(80))\" is not made of small letters, digits and _, beginning with a letter, "
                            + "at most 64")
                }
                guard word != "total", !word.hasSuffix("_total") else {
                    throw PluginMetricRefusal("the ending of \(word) is added to counters by itself")
                }
            }
        }

        private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    }

    let declaration: Declaration
    let value: Double
}

/// Why a figure cannot be published, as the end of a sentence.
public struct PluginMetricRefusal: Error, Sendable, CustomStringConvertible {
    /// The sentence's end.
    public var description: String

    init(_ description: String) { self.description = description }
}
