/// How many processes of a pool are on their way, and how many more are to be started.
struct PoolArrivals {
    private let settings: PoolSettings
    /// Processes that are not ready yet.
    private(set) var starting = 0
    /// Of those, the ones that have no process yet.
    private(set) var due = 0

    init(_ settings: PoolSettings) { self.settings = settings }

    /// Begins those that are to be there at any time.
    ///
    /// - Parameter count: How many processes there are.
    /// - Returns: how many that are.
    mutating func begin(of count: Int) -> Int { begin(max(0, settings.minimum - count - due)) }

    /// Begins those as well that are needed.
    ///
    /// - Parameters:
    ///   - lacking: How many calls or sessions wait for a process, less those that are free.
    ///   - isNeeded: One has to be there.
    /// - Returns: how many that are, and whether no more were wanted than there may be.
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

    /// One of them is a process from now on, or does not come.
    mutating func began() { due -= 1 }

    /// One of them is ready, or has failed.
    mutating func ended() { starting -= 1 }
}
