/// Output on standard error that is neither a result nor an error: progress, notes, changes of the connection.
/// `--quiet` suppresses it.
enum News {
    /// Whether it is written, for the Swift task that runs the command.
    @TaskLocal static var isShown = true

    /// Writes a note.
    static func note(_ text: String) {
        if isShown { Failure.complain(text) }
    }
}
