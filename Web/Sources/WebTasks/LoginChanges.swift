/// Decides, as a state machine, when pages are reloaded because another user has logged in. Pages may log in whenever
/// they are loaded. Therefore each user counts as one change, and a pause follows each change, so that pages do not
/// reload each other forever.
public struct LoginChanges: Sendable {
    /// The length of the pause.
    public static let pause = Duration.seconds(5)

    private enum Known: Equatable {
        case nothing
        /// The bytes of the name as it was sent; `nil` if no user is logged in.
        case user([UInt8]?)
    }

    /// The user of the last login or logout.
    private var latest = Known.nothing
    /// The user for whom pages were last reloaded.
    private var served = Known.nothing
    private var isPausing = false

    /// Creates the state before the first event.
    public init() {}

    /// Notes that a session has logged in or out.
    ///
    /// - Parameter user: The user; `nil` for none.
    /// - Returns: Whether pages must be reloaded now; a pause then begins.
    public mutating func heard(_ user: String?) -> Bool {
        latest = .user(user.map { Array($0.utf8) })
        return serve()
    }

    /// Notes that the pause is over.
    ///
    /// - Returns: Whether pages must be reloaded now; another pause then begins.
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
