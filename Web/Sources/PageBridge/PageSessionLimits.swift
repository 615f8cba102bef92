/// What one document may have waiting.
enum PageSessionLimits {
    /// Lines that wait until the daemon has answered the hello: as many calls as a session may have in flight.
    static let waitingLines = 1_024
    /// Their bytes: four of the longest messages that the daemon takes.
    static let waitingBytes = 4 << 20
    /// Posts whose answers are held: the answer to a call's line brings its result, for so many calls at once. Beyond,
    /// the oldest is answered with nothing.
    static let heldPosts = 8
    /// Bytes for the page beyond which nothing more is read from the daemon, until the page has taken them.
    static let undeliveredBytes = 1 << 20
    /// The longest line that is answered where it cannot be sent; of a longer one the id is not looked for.
    static let answeredLineBytes = 1 << 20
}
