public import BridgeJSON

/// Something that others may want to know of a container.
public struct ContainerEvent: Sendable, Hashable {
    /// The name, `web.…`.
    public var name: String
    /// What happened.
    public var data: JSON

    /// Whether a pattern is the name of an event, or ends with `*` behind its beginning.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - name: The event's name.
    public static func matches(_ pattern: String, _ name: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
}
