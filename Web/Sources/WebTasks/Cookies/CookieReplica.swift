public import BridgeClient
public import BridgeJSON
internal import MainLoop
public import WebKitViews

/// Keeps the engine's cookies and a profile of the plugin Cookies equal, in both directions. One Swift task does the
/// work, step by step. Work that becomes due meanwhile is only noted, once for each cookie.
@MainActor
public final class CookieReplica {
    /// The time in which changes of the jar are gathered.
    private static let pause = Duration.milliseconds(50)
    /// The maximum number of changes in a call, as in the plugin, and of bytes in their texts.
    private static let maximumChanges = 200
    private static let maximumBytes = 256 << 10
    /// The maximum number of rounds in ``settle()``: a page may change cookies all the time.
    private static let maximumRounds = 10

    private let bridge: Bridge
    private let jar: WebCookieJar
    private let name: JSON
    private var shadow = CookieShadow()
    /// The version of the profile up to which all changes are known; `nil` if none are.
    private var version: UInt64?
    /// The daemon's changes that the jar does not have yet.
    private var waiting: [WebCookie.Key: CookieShadow.Change] = [:]
    private var isJarDue = false
    private var isAttachDue = false
    private var worker: Task<Void, Never>?
    private var listener: Task<Void, Never>?
    private var gathering: LoopSource?
    /// The number of changes in both directions.
    private var count = 0
    private var hasReportedProblem = false
    /// Called with the daemon's error if it does not send its cookies.
    public var onProblem: (@MainActor (BridgeError) -> Void)?

    /// Creates a replica that is not synchronized yet.
    ///
    /// - Parameters:
    ///   - bridge: The connection to the daemon.
    ///   - jar: The engine's cookies.
    ///   - name: The replica's name.
    public init(_ bridge: Bridge, _ jar: WebCookieJar, name: String) {
        self.bridge = bridge
        self.jar = jar
        self.name = .string(name)
    }

    /// Starts the synchronization; returns when the jar has the profile's cookies.
    ///
    /// - Throws: The daemon's error.
    public func start() async throws(BridgeError) {
        // Besides the changes, the stream reports that some may have been missed, also after a reconnection.
        let events = try await bridge.subscribe(to: "cookies.changed")
        listener = Task { [weak self] in
            do {
                for try await event in events { self?.heard(event) }
            } catch {
                // There will be no other connection.
            }
        }
        jar.onChange = { [weak self] in self?.jarChanged() }
        isAttachDue = true
        await work().value
    }

    /// Waits until neither side has changes for the other, the daemon does not answer, or both have exchanged changes
    /// several times.
    public func settle() async {
        for _ in 0..<Self.maximumRounds {
            let before = count
            isAttachDue = true
            isJarDue = true
            await work().value
            if count == before || isJarDue { return }
        }
    }

    // MARK: Due work

    private func heard(_ event: BridgeEvent) {
        if event.name == "cookies.changed" { note(event.data) } else { isAttachDue = true }
        work()
    }

    private func jarChanged() {
        guard gathering == nil else { return }
        gathering = .timer(after: Self.pause) { [weak self] in
            guard let self else { return }
            gathering = nil
            isJarDue = true
            work()
        }
    }

    /// Notes the changes of an event or an answer.
    private func note(_ data: JSON) {
        for change in data["changes"]?.arrayValue ?? [] {
            let version = Self.version(change)
            if let json = change["cookie"] {
                guard let cookie = WebCookie(json) else { continue }
                note(cookie.key, CookieShadow.Change(cookie: cookie, version: version))
            } else if let key = change["key"].flatMap({ WebCookie.Key($0) }) {
                note(key, CookieShadow.Change(cookie: nil, version: version))
            }
        }
        version = max(version ?? 0, Self.version(data))
    }

    private func note(_ key: WebCookie.Key, _ change: CookieShadow.Change) {
        if !shadow.knows(key, change) { waiting[key] = change }
    }

    private static func version(_ json: JSON) -> UInt64 { UInt64(clamping: json["version"]?.int64Value ?? 0) }

    // MARK: The work

    /// Does all due work, in one Swift task at a time.
    @discardableResult
    private func work() -> Task<Void, Never> {
        if let worker { return worker }
        let task = Task { [weak self] () -> Void in
            do {
                while let self, try await self.step() {}
            } catch {
                // A lost connection is made again, which is reported; other problems remain until then.
                if let error = error as? BridgeError { self?.report(error) }
            }
            self?.worker = nil
        }
        worker = task
        return task
    }

    /// Reports the first problem since the daemon sent its cookies.
    private func report(_ problem: BridgeError) {
        if !hasReportedProblem { onProblem?(problem) }
        hasReportedProblem = true
    }

    /// Does one piece of due work; returns false if there is none.
    private func step() async throws -> Bool {
        if isAttachDue {
            isAttachDue = false
            try await attach()
            hasReportedProblem = false
        } else if !waiting.isEmpty {
            let changes = waiting
            waiting = [:]
            await take(changes)
        } else if isJarDue, version != nil {
            isJarDue = false
            let there = await jar.all()
            for changes in Self.portions(shadow.differences(of: there)) { try await send(changes) }
        } else {
            return false
        }
        return true
    }

    /// Requests past changes, and subscribes to later ones.
    private func attach() async throws {
        var known = version
        var seen: Set<WebCookie.Key> = []
        let isComplete = known == nil
        while true {
            var options: JSONObject = ["replica": name]
            options["since"] = known.map { JSON.number(JSONNumber($0)) }
            let page: JSON
            do {
                page = try await bridge.call("cookies.attach", JSON.object(options), as: JSON.self)
            } catch {
                guard error.code == "cursor.expired", version != nil else { throw error }
                version = nil
                return try await attach()
            }
            for json in page["cookies"]?.arrayValue ?? [] {
                guard let cookie = WebCookie(json) else { continue }
                seen.insert(cookie.key)
                note(cookie.key, CookieShadow.Change(cookie: cookie, version: Self.version(json)))
            }
            note(page)
            known = Self.version(page)
            if page["more"]?.boolValue != true { break }
        }
        guard isComplete else { return }
        let removed = CookieShadow.Change(cookie: nil, version: known ?? 0)
        for key in shadow.keys where !seen.contains(key) && waiting[key] == nil { waiting[key] = removed }
    }

    /// Applies the daemon's changes to the jar.
    private func take(_ changes: [WebCookie.Key: CookieShadow.Change]) async {
        count += changes.count
        let set = changes.values.compactMap(\.cookie)
        let before = await jar.all()
        let removed = changes.filter { $0.value.cookie == nil }.compactMap { before[$0.key] }
        await jar.change(set: set, removed: removed)
        var found = await jar.all()
        // A missing cookie was removed meanwhile, or the jar does not accept it.
        let missing = set.filter { found[$0.key] == nil }
        if !missing.isEmpty {
            await jar.change(set: missing, removed: [])
            found = await jar.all()
        }
        for (key, change) in changes { shadow.took(key, change, found: found[key]) }
    }

    /// Sends the jar's changes. If the daemon refuses one, the jar gets the daemon's cookie.
    private func send(_ changes: [CookieShadow.Difference]) async throws {
        let options: JSON = ["replica": name, "changes": .array(changes.map(Self.json))]
        let answer: JSON
        do {
            answer = try await bridge.call("cookies.apply", options, as: JSON.self)
        } catch {
            isJarDue = true
            guard error.code == "cookie.not_attached" else { throw error }
            isAttachDue = true
            return
        }
        count += changes.count
        var refused: [WebCookie.Key: CookieShadow.Change] = [:]
        for refusal in answer["refused"]?.arrayValue ?? [] {
            guard let key = refusal["key"].flatMap({ WebCookie.Key($0) }) else { continue }
            let current = refusal["current"] ?? JSON.null
            refused[key] = CookieShadow.Change(cookie: WebCookie(current), version: Self.version(current))
        }
        for change in changes {
            if let current = refused[change.key] {
                waiting[change.key] = current
            } else {
                shadow.sent(change, version: Self.version(answer))
            }
        }
    }

    private static func portions(_ changes: [CookieShadow.Difference]) -> [[CookieShadow.Difference]] {
        var portions: [[CookieShadow.Difference]] = []
        var bytes = Int.max
        for change in changes {
            let size = change.key.name.utf8.count + (change.cookie?.value.utf8.count ?? 0)
            if bytes > maximumBytes - size || portions.last?.count == maximumChanges {
                portions.append([])
                bytes = 0
            }
            portions[portions.count - 1].append(change)
            bytes += size
        }
        return portions
    }

    private static func json(_ change: CookieShadow.Difference) -> JSON {
        let base = JSON.number(JSONNumber(change.base))
        guard let cookie = change.cookie else {
            return ["change": "removed", "key": .object(change.key.json), "base": base]
        }
        return ["change": "set", "cookie": cookie.json, "base": base]
    }
}
