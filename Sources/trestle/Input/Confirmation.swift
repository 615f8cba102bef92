/// A question that a person answers with yes or no, on the terminal.
enum Confirmation {
    /// - Returns: Whether the answer is yes; anything but y and yes is no.
    /// - Throws: `CancellationError` where a signal came.
    static func ask(_ question: String) async throws -> Bool {
        Screen.error.write("\(question) [y/N] ")
        switch await LineReader().next() {
        case .text(let answer): return ["y", "yes"].contains(answer.lowercased())
        case .end:
            // The person's own line end has not come.
            Screen.error.write("\n")
            return false
        case nil: throw CancellationError()
        }
    }
}
