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

/// A question of a page's to its user.
public struct PanelQuestion: Sendable, Hashable {
    /// `alert`, `confirm` or `prompt`.
    public var kind: String
    /// What the page says.
    public var message: String
    /// What a prompt begins with.
    public var defaultText: String?
}

/// What the user said.
public enum PanelAnswer: Sendable, Hashable {
    /// Agreed, with what was written.
    case accepted(text: String?)
    /// Did not.
    case declined
}
