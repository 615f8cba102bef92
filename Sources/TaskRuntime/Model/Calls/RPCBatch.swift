import BridgeMessage

/// The answers to a batch of JSON-RPC, until all of them are there.
public final class RPCBatch {
    /// Calls whose answers are to come.
    var waitingCalls = 0
    /// Whether all items have been received.
    var isComplete = false
    /// How much of the answers has been counted.
    var countedBytes = 0
    private let answers = OutputBuffer()

    /// The length of the answers so far.
    var answeredBytes: Int { answers.count }

    /// Takes in an answer, which `write` writes as a line.
    func add(_ write: (OutputBuffer) -> Void) {
        answers.append(UInt8(ascii: answers.isEmpty ? "[" : ","))
        write(answers)
        // The line's end.
        answers.removeLast()
    }

    /// Moves the array; nothing, where nothing was to be answered.
    func write(to output: OutputBuffer) {
        guard !answers.isEmpty else { return }
        answers.append("]\n")
        output.take(from: answers)
    }
}
