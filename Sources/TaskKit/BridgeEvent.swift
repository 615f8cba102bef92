/// A typed event: a type declares its name and its data together.
///
///     struct FileChanged: BridgeEvent {
///         static let name = "files.changed"
///         static let summary = "A file was changed."
///         var path: String
///     }
///
/// `Plugin.event(FileChanged.self)` declares it, `call.publish(FileChanged(path: path))` sends it.
public protocol BridgeEvent: Encodable, Sendable {
    /// The event's name, such as `record.changed`.
    static var name: String { get }
    /// One sentence for people.
    static var summary: String { get }
    /// Whether members of the group `trestle` receive the event if no policy rule matches. The default: false.
    static var isPublic: Bool { get }
}

extension BridgeEvent {
    /// False: only a policy rule permits the event.
    public static var isPublic: Bool { false }
}

extension Plugin {
    /// Declares an event that the plugin sends.
    public func event<Event: BridgeEvent>(_ type: Event.Type) -> Self {
        event(type.name, type.summary, isPublic: type.isPublic)
    }
}
