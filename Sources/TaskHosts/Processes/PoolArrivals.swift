/// The starting processes of a pool. Computes how many more must be started.
struct PoolArrivals {
    private let settings: PoolSettings
    /// The number of requested processes that are not ready yet.
    private(set) var starting = 0
    /// The number of those that do not exist as processes yet.
    private(set) var due = 0

    init(_ settings: PoolSettings) { self.settings = settings }

    /// Begins the starts that are missing to the minimum.
    ///
    /// - Parameter count: The number of existing processes.
    /// - Returns: The number of processes to start.
    mutating func begin(of count: Int) -> Int { begin(max(0, settings.minimum - count - due)) }

    /// Begins the starts that are missing to the minimum and for waiting callers.
    ///
    /// - Parameters:
    ///   - lacking: The number of calls or sessions that wait for a process, minus the number of free processes.
    ///   - isNeeded: Whether at least one process is required.
    /// - Returns: The number of processes to start, and whether the maximum allows all that are needed.
    mutating func begin(for lacking: Int, of count: Int, isNeeded: Bool) -> (count: Int, isEnough: Bool) {
        let count = count + due
        let minimum = max(settings.minimum, isNeeded ? 1 : 0)
        let wanted = max(minimum - count, lacking - starting)
        let missing = begin(max(0, min(wanted, settings.maximum - count)))
        return (missing, wanted <= missing)
    }

    private mutating func begin(_ count: Int) -> Int {
        (starting, due) = (starting + count, due + count)
        return count
    }

    /// Notes that one of the requested processes now exists, or could not be created.
    mutating func began() { due -= 1 }

    /// Notes that one of the starting processes is ready or has failed.
    mutating func ended() { starting -= 1 }
}
