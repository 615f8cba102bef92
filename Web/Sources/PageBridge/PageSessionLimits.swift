/// The limits of one document's queues.
enum PageSessionLimits {
    /// The number of lines that may wait for the daemon's answer to the hello: as many as the calls that a session may
    /// have in flight.
    static let waitingLines = 1_024
    /// The number of their bytes: four times the maximum message length of the daemon.
    static let waitingBytes = 4 << 20
    /// The number of posts whose replies are held: a call's line may be answered with its result, for this number of
    /// calls at a time. Beyond it, the oldest is answered with nothing.
    static let heldPosts = 8
    /// The number of undelivered bytes beyond which no more is read from the daemon until the page has taken them.
    static let undeliveredBytes = 1 << 20
    /// The maximum length of a line that gets an answer if it cannot be sent; a longer one is not searched for its id.
    static let answeredLineBytes = 1 << 20
}
