/// The rule for names of tasks that are not the daemon's own: tasks of clients, plugin processes and libraries.
enum TaskName {
    /// The definition of a task name, worded as the end of a sentence.
    static let rule = "a name of \(PublicName.rule), that does not begin with bridge., plugin. or rpc."

    /// The prefixes of the daemon's own tasks, of its requests to plugins, and of JSON-RPC's reserved names.
    private static let reservedPrefixes: [StaticString] = ["bridge.", "plugin.", "rpc."]

    /// Whether a task may have the name.
    static func isAllowed(_ name: String) -> Bool {
        PublicName.isAllowed(name)
            && !reservedPrefixes.contains {
                name.utf8.starts(with: UnsafeBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount))
            }
    }
}
