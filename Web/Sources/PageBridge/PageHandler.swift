internal import BridgeJSON

/// A handler that pages access as `webkit.messageHandlers.NAME`.
public struct PageHandler: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The task that its messages call.
    public var task: String

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - task: The task that its messages call.
    public init(_ name: String, task: String) {
        self.name = name
        self.task = task
    }

    static func json(_ handlers: [PageHandler]) -> JSON {
        .array(handlers.map { ["name": .string($0.name), "task": .string($0.task)] })
    }
}
