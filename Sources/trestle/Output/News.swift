/// What a command writes to standard error that is neither a result nor an error: progress, notes, news of the
/// connection. `--quiet` leaves it out.
enum News {
    /// Whether it is written; of the Swift task that the command runs in.
    @TaskLocal static var isShown = true

    /// Writes a note.
    static func note(_ text: String) {
        if isShown { Failure.complain(text) }
    }
}
