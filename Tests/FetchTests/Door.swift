import TaskKit

/// A public task that lets pages fetch, because `http.fetch` is not public.
struct Door: BridgeTask {
    static let name = "door.fetch"
    static let summary = "Calls http.fetch for its caller."
    static let settings = TaskSettings(isPublic: true)

    func run(_ options: JSON, _ call: Call) async throws -> JSON { try await call.call("http.fetch", options) }
}
