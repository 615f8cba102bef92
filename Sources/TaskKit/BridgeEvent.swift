/// An event with a type: its name and what it says are declared together.
///
///     struct FileChanged: BridgeEvent {
///         static let name = "files.changed"
///         static let summary = "A file was changed."
///         var path: String
///     }
///
/// `Plugin.event(FileChanged.self)` declares it, `call.publish(FileChanged(path: path))` sends it.
public protocol BridgeEvent: Encodable, Sendable {
    /// Its name, such as `record.changed`.
    static var name: String { get }
    /// One sentence for a person.
    static var summary: String { get }
    /// Whether members of the group `trestle` get it where no rule says anything; false where it is not said.
    static var isPublic: Bool { get }
}

extension BridgeEvent {
    /// Only where a rule says so.
    public static var isPublic: Bool { false }
}

extension Plugin {
    /// Declares an event that the plugin sends.
    public func event<Event: BridgeEvent>(_ type: Event.Type) -> Self {
        event(type.name, type.summary, isPublic: type.isPublic)
    }
}
