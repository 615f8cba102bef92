/// What ran in a turn of the main loop, by names that the program gives: its own callbacks, and the toolkit, which has
/// the rest.
struct TurnWork {
    /// What GTK and the engine do between the program's callbacks.
    static let toolkit = "toolkit"
    /// A turn with so many callbacks of a name is a batch of them: what the engine does for each is counted apart.
    static let batch = 16

    /// The CPU time of each in nanoseconds, and how often it ran.
    private var own: [String: (nanoseconds: UInt64, calls: Int)] = [:]

    /// Adds what a callback took.
    mutating func add(_ nanoseconds: UInt64, of name: String) {
        let before = own[name] ?? (0, 0)
        own[name] = (before.nanoseconds &+ nanoseconds, before.calls + 1)
    }

    /// Begins another turn.
    mutating func begin() {
        if !own.isEmpty { own.removeAll(keepingCapacity: true) }
    }

    /// What took most of a turn.
    ///
    /// - Parameter nanoseconds: The CPU time of the turn.
    /// - Returns: A callback's name; `toolkit`; or `toolkit for NAME` where the toolkit called NAME again and again.
    func largest(of nanoseconds: UInt64) -> String {
        let rest = nanoseconds &- min(nanoseconds, own.values.reduce(0) { $0 &+ $1.nanoseconds })
        if let most = own.max(by: { $0.value.nanoseconds < $1.value.nanoseconds }), most.value.nanoseconds > rest {
            return most.key
        }
        guard let batch = own.max(by: { $0.value.calls < $1.value.calls }), batch.value.calls >= Self.batch else {
            return Self.toolkit
        }
        return "\(Self.toolkit) for \(batch.key)"
    }
}
