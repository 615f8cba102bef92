import HTTPRules
import TaskKit

/// The event `cookies.changed`.
enum CookiesChanged {
    static let event = "cookies.changed"
    static let summary = "Cookies of a watched profile were set or removed: {profile, version, changes}."

    /// The maximum number of changes in an event, and its approximate maximum size in bytes. An import makes several
    /// events.
    static let maximumChanges = 100
    static let maximumBytes = 64 << 10

    /// Returns the events that report some changes.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - profile: The profile.
    ///   - view: The view of the session that receives them.
    ///   - now: The current time.
    static func events(
        _ changes: [CookieChange], of profile: ProfileID, for view: CookieView, at now: UnixTime
    ) -> [JSON] {
        var events: [JSON] = []
        var page: [JSON] = []
        var bytes = 0
        var version: UInt64 = 0
        func end() {
            guard !page.isEmpty else { return }
            events.append([
                "profile": .string(profile.name), "version": .number(JSONNumber(version)), "changes": .array(page),
            ])
            page = []
            bytes = 0
        }
        for change in changes {
            guard let json = view.json(change, at: now) else { continue }
            if page.count == maximumChanges || bytes > maximumBytes { end() }
            page.append(json)
            version = change.version
            bytes += change.sizeBytes
        }
        end()
        return events
    }
}

extension CookieChange {
    /// The approximate length of the change as JSON.
    var sizeBytes: Int {
        switch kind {
        case .set(let cookie): cookie.sizeBytes * 2 + 400
        case .removed(let key, _): key.name.count * 2 + key.path.utf8.count + 200
        }
    }
}
