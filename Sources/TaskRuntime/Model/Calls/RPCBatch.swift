import BridgeMessage

/// The answers to a JSON-RPC batch, collected until all have arrived.
public final class RPCBatch {
    /// The number of calls that have not been answered.
    var waitingCalls = 0
    /// Whether all items have been received.
    var isComplete = false
    /// The number of bytes of the answers that have been counted.
    var countedBytes = 0
    private let answers = OutputBuffer()

    /// The length of the answers so far.
    var answeredBytes: Int { answers.count }

    /// Adds an answer, which `write` writes as a line.
    func add(_ write: (OutputBuffer) -> Void) {
        answers.append(UInt8(ascii: answers.isEmpty ? "[" : ","))
        write(answers)
        // The line break.
        answers.removeLast()
    }

    /// Moves the array to the output; writes nothing if there are no answers.
    func write(to output: OutputBuffer) {
        guard !answers.isEmpty else { return }
        answers.append("]\n")
        output.take(from: answers)
    }
}
