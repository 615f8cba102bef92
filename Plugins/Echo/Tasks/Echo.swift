// Echo: hands its options back, byte for byte. The smallest example of a plugin, and what benchmarks call.
public import TaskKit

/// Answers with the options that it got.
struct Echo: RawTask {
    static let name = "Echo"
    static let summary = "Returns the options that it got, byte for byte."
    static let settings = TaskSettings(isPublic: true, optionBytes: TaskSettings.anyOptionBytes)

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        // The very bytes, not a copy: the daemon sees by their address that it has checked them before.
        reply.succeed(options)
    }
}

extension Plugin {
    /// The plugin whose one task is `Echo`.
    public static func echo() -> Plugin {
        Plugin("echo", version: "1.0.0") { Echo() }
    }
}
