/// What ran in a turn of the main loop, by names that the program gives: its own callbacks, and the toolkit, which has
/// the rest.
struct TurnWork {
    /// What GTK and the engine do between the program's callbacks.
    static let toolkit = "toolkit"
    /// A turn with so many callbacks of a name is a batch of them: what the engine does for each is counted apart.
    static let batch = 16

    private typealias Parts = [String: (nanoseconds: UInt64, calls: Int)]

    /// The CPU time of each callback in nanoseconds, and how often it ran.
    private var callbacks: Parts = [:]
    /// The same of what the toolkit does by itself, where that has a name.
    private var toolkitParts: Parts = [:]

    /// Adds what a callback took.
    mutating func add(_ nanoseconds: UInt64, of name: String) { Self.add(nanoseconds, name, to: &callbacks) }

    /// Adds what the toolkit took for something by itself.
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

    /// What all callbacks took, in nanoseconds.
    var own: UInt64 { Self.total(callbacks) }

    private static func total(_ parts: Parts) -> UInt64 { parts.values.reduce(0) { $0 &+ $1.nanoseconds } }

    /// What took most of a turn.
    ///
    /// - Parameter nanoseconds: The CPU time of the turn.
    /// - Returns: A name that was added; `toolkit`; or `toolkit for NAME` where the toolkit called NAME again and again.
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
