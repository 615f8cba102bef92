/// The work in a turn of the main loop, by names that the program gives: its own callbacks, and the toolkit for the
/// rest.
struct TurnWork {
    /// The name of the work of GTK and the engine between the program's callbacks.
    static let toolkit = "toolkit"
    /// The number of callbacks of one name from which a turn is a batch of them: the engine's work for them is counted
    /// separately.
    static let batch = 16

    private typealias Parts = [String: (nanoseconds: UInt64, calls: Int)]

    /// The CPU time in nanoseconds and the number of calls of each callback.
    private var callbacks: Parts = [:]
    /// The same for the toolkit's own work that has a name.
    private var toolkitParts: Parts = [:]

    /// Adds the CPU time of a callback.
    mutating func add(_ nanoseconds: UInt64, of name: String) { Self.add(nanoseconds, name, to: &callbacks) }

    /// Adds the CPU time of the toolkit's own work.
    mutating func addToolkit(_ nanoseconds: UInt64, for name: String) { Self.add(nanoseconds, name, to: &toolkitParts) }

    private static func add(_ nanoseconds: UInt64, _ name: String, to parts: inout Parts) {
        let before = parts[name] ?? (0, 0)
        parts[name] = (before.nanoseconds &+ nanoseconds, before.calls + 1)
    }

    /// Begins another turn.
    mutating func begin() {
        if !callbacks.isEmpty { callbacks.removeAll(keepingCapacity: true) }
        if !toolkitParts.isEmpty { toolkitParts.removeAll(keepingCapacity: true) }
    }

    /// The CPU time of all callbacks, in nanoseconds.
    var own: UInt64 { Self.total(callbacks) }

    private static func total(_ parts: Parts) -> UInt64 { parts.values.reduce(0) { $0 &+ $1.nanoseconds } }

    /// Returns the name of the work that used most of a turn.
    ///
    /// - Parameter nanoseconds: The CPU time of the turn.
    /// - Returns: A name that was added; `toolkit`; or `toolkit for NAME` if the toolkit called NAME repeatedly.
    func largest(of nanoseconds: UInt64) -> String {
        let rest = nanoseconds &- min(nanoseconds, own &+ Self.total(toolkitParts))
        let parts = callbacks.merging(toolkitParts) { own, _ in own }
        if let most = parts.max(by: { $0.value.nanoseconds < $1.value.nanoseconds }), most.value.nanoseconds > rest {
            return most.key
        }
        guard let batch = callbacks.max(by: { $0.value.calls < $1.value.calls }), batch.value.calls >= Self.batch else {
            return Self.toolkit
        }
        return "\(Self.toolkit) for \(batch.key)"
    }
}
