/// The one rule for the names of tasks that are not the daemon's own: those of clients, plugin processes and libraries
/// alike.
enum TaskName {
    /// What a name must be, as the end of a sentence.
    static let rule = "a name of \(PublicName.rule), that does not begin with bridge., plugin. or rpc."

    /// The daemon's own tasks, what it asks of plugins, and what is JSON-RPC's own begin with these.
    private static let reservedPrefixes: [StaticString] = ["bridge.", "plugin.", "rpc."]

    /// Whether a task may have the name.
    static func isAllowed(_ name: String) -> Bool {
        PublicName.isAllowed(name)
            && !reservedPrefixes.contains {
                name.utf8.starts(with: UnsafeBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount))
            }
    }
}
