import BridgeJSON
import Logging

// Errors whose words the plugin did not choose: those of a library, or of the system, that it did not expect.
extension PluginInstance {
    /// As much of such an error's words as is passed on.
    private static let maximumBytes = 8 << 10

    /// The error as its caller is shown it. The log has its words, under the id that the error bears; a trusted caller
    /// has them too, and so has the daemon, which asks about the plugin itself.
    func shown(_ error: BridgeError, of call: Call) -> BridgeError {
        var shown = error
        shown.isUnforeseen = false
        shown.message = error.message.cut(toBytes: Self.maximumBytes)
        guard call.origin != .daemon else { return shown }
        let id = Self.makeID()
        var metadata = call.logMetadata
        metadata["error"] = .string(id)
        // What is secret of a private task may stand in its errors.
        let words = call.task?.description.isPrivate == true ? "its words are private" : shown.message
        writeUnforeseen(words, metadata)
        shown.data = ["error": .string(id)]
        if call.session?.isTrusted != true {
            shown.message = "the task failed with an unexpected error; the daemon's log has it under \(id)"
        }
        return shown
    }

    /// Writing keeps the loop: of many errors some are left out, and counted.
    private func writeUnforeseen(_ words: String, _ metadata: Logger.Metadata) {
        let verdict = unforeseenLines.take(at: calls.clock.now)
        if verdict == .leaveOut { return }
        if case .writeAfter(let lost) = verdict {
            calls.log.warning("\(lost) errors that \(providerName) did not foresee were left out")
        }
        calls.log.error("\(providerName) did not foresee an error: \(words)", metadata: metadata)
    }

    /// Distinct from all others in a log; it has no meaning.
    private static func makeID() -> String {
        let digits = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        return String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }
}
