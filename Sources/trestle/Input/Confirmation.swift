/// A question on the terminal that the user answers with yes or no.
enum Confirmation {
    /// Asks the question.
    ///
    /// - Returns: Whether the answer is y or yes.
    /// - Throws: `CancellationError` after a signal.
    static func ask(_ question: String) async throws -> Bool {
        Screen.error.write("\(question) [y/N] ")
        switch await LineReader().next() {
        case .text(let answer): return ["y", "yes"].contains(answer.lowercased())
        case .end:
            // The user has not typed a line end.
            Screen.error.write("\n")
            return false
        case nil: throw CancellationError()
        }
    }
}
