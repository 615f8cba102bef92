// Echo: returns its options, byte for byte. The smallest example of a plugin; benchmarks call it.
public import TaskKit

/// Answers with the received options.
struct Echo: RawTask {
    static let name = "Echo"
    static let summary = "Returns its options, byte for byte."
    static let settings = TaskSettings(isPublic: true, optionBytes: TaskSettings.anyOptionBytes)

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        // The same bytes, not a copy: the daemon recognises them by their address and does not check them again.
        reply.succeed(options)
    }
}

extension Plugin {
    /// Creates the plugin with the task `Echo`.
    public static func echo() -> Plugin {
        Plugin("echo", version: "1.0.0") { Echo() }
    }
}
