public import BridgeJSON

/// An event of a container.
public struct ContainerEvent: Sendable, Hashable {
    /// The name, `web.…`.
    public var name: String
    /// The event's data.
    public var data: JSON

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - name: The name, `web.…`.
    ///   - data: The event's data.
    public init(name: String, data: JSON = [:]) {
        self.name = name
        self.data = data
    }

    /// Whether a pattern matches the name of an event: it is the name, or a prefix of it followed by `*`.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - name: The event's name.
    public static func matches(_ pattern: String, _ name: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
}
