import TaskKit

/// Sends a session the changes of a table, from now on or since a version.
struct WatchTask: StoreTask {
    static let name = "persistence.watch"
    static let summary = "Sends this session every change of a table as the event record.changed, or stops doing so."
    static let lane = StoreLane.commits
    static let mayWatch = true
    static let optionBytes: Int? = nil
    struct Request: Codable, Sendable {
        var table: ExactText
        var since: Int64?
        var stop: Bool?
        var namespace: String?
    }
    let store: StoreQueue

    func perform(_ request: Request, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork {
        guard let access = visit.access else { preconditionFailure("\(Self.name) was sent to a reader.") }
        let namespace = try caller.namespace(named: request.namespace)
        let path = try TablePath(namespace: namespace, checking: request.table, at: "$")
        guard request.stop == true else {
            let (version, replay) = try access.watches.begin(
                Watcher(caller), path, namesNamespace: request.namespace != nil, since: request.since, access.records)
            if let replay { store.replay(replay) }
            return Self.result(version)
        }
        if let since = request.since {
            throw BridgeError.unfit("$.since", expected: "nothing, together with stop", got: "number \(since)")
        }
        let version = try access.records.feedState(of: namespace).version
        access.watches.remove(caller.session, path)
        return Self.result(version)
    }

    private static func result(_ version: Int64) -> StoreWork { .result(Array(#"{"version":\#(version)}"#.utf8)) }
}
