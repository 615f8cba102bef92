/// When pages are loaded again because another user has logged in, as a state machine. Pages may log in whenever they
/// are loaded: one user is one change, and after a change there is a pause, so that no pages reload each other without
/// end.
public struct LoginChanges: Sendable {
    /// How long the pause is.
    public static let pause = Duration.seconds(5)

    private enum Known: Equatable {
        case nothing
        /// The name as it was sent, in bytes; nil: nobody is logged in.
        case user([UInt8]?)
    }

    /// The user of the last login or logout.
    private var latest = Known.nothing
    /// The user for whom pages were loaded.
    private var served = Known.nothing
    private var isPausing = false

    /// Nothing has been heard yet.
    public init() {}

    /// A session has logged in or out.
    ///
    /// - Parameter user: The user; nil: nobody.
    /// - Returns: Whether pages are to be loaded again now; then a pause begins.
    public mutating func heard(_ user: String?) -> Bool {
        latest = .user(user.map { Array($0.utf8) })
        return serve()
    }

    /// The pause is over.
    ///
    /// - Returns: Whether pages are to be loaded again now; then another pause begins.
    public mutating func pauseEnded() -> Bool {
        isPausing = false
        return serve()
    }

    private mutating func serve() -> Bool {
        guard !isPausing, latest != served else { return false }
        served = latest
        isPausing = true
        return true
    }
}
