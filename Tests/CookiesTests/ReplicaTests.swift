import HTTPRules
import TaskKit
import Testing

@testable import CookiesTasks

/// A container's jar as a copy of a profile: its cookies, the last known cookies of the profile, and their versions.
private struct Replica {
    let session: UInt64
    var jar: [String: JSON] = [:]
    var shadow: [String: JSON] = [:]
    var bases: [String: Int64] = [:]
    var version: Int64 = 0
    var messages = 0

    init(session: UInt64, _ stage: EngineUnderTest) throws {
        self.session = session
        let answer = try stage.call(
            AttachTask(service: stage.service), ["profile": "private:m", "replica": "web"], session: session)
        version = answer["version"]?.int64Value ?? 0
        for cookie in answer["cookies"]?.arrayValue ?? [] { take(cookie, cookie["version"]?.int64Value ?? 0) }
    }

    private static func key(_ json: JSON) -> String { json["name"]?.stringValue ?? "" }

    private static func cookie(_ name: String, _ value: JSON) -> JSON {
        ["name": .string(name), "value": value, "host": "a.example", "secure": true]
    }

    private mutating func take(_ cookie: JSON, _ version: Int64) {
        let name = Self.key(cookie)
        jar[name] = cookie["value"]
        shadow[name] = cookie["value"]
        bases[name] = version
    }

    private mutating func forget(_ name: String) {
        jar[name] = nil
        shadow[name] = nil
        bases[name] = nil
    }

    /// Applies events.
    mutating func take(_ events: [JSON]) {
        for change in events.flatMap({ $0["changes"]?.arrayValue ?? [] }) {
            let version = change["version"]?.int64Value ?? 0
            if let cookie = change["cookie"] { take(cookie, version) } else { forget(Self.key(change["key"] ?? nil)) }
        }
    }

    /// Sends the differences from the shadow. Then applies the events from before the answer, the answer, and the
    /// events after it.
    ///
    /// - Returns: Whether there were differences to send.
    mutating func synchronize(_ stage: EngineUnderTest) throws -> Bool {
        let names = Set(jar.keys).union(shadow.keys).filter { jar[$0] != shadow[$0] }.sorted().prefix(200)
        if names.isEmpty { return false }
        messages += 1
        let changes = names.map { name -> JSON in
            let base: JSON = .number(JSONNumber(bases[name] ?? 0))
            if let value = jar[name] { return ["change": "set", "cookie": Self.cookie(name, value), "base": base] }
            return ["change": "removed", "key": ["name": .string(name), "host": "a.example"], "base": base]
        }
        let before = stage.sink.take(session)
        let answer = try stage.call(
            ApplyTask(service: stage.service),
            ["profile": "private:m", "replica": "web", "changes": .array(changes)], session: session)
        let after = stage.sink.take(session)
        let sent = Dictionary(names.map { ($0, jar[$0]) }, uniquingKeysWith: { first, _ in first })
        take(before)
        let refused = answer["refused"]?.arrayValue ?? []
        let refusedNames = Set(refused.map { Self.key($0["key"] ?? nil) })
        for (name, value) in sent where !refusedNames.contains(name) {
            jar[name] = value
            shadow[name] = value
            bases[name] = value == nil ? nil : answer["version"]?.int64Value
        }
        for refusal in refused {
            let current = refusal["current"] ?? nil
            if current.isNull {
                forget(Self.key(refusal["key"] ?? nil))
            } else {
                take(current, current["version"]?.int64Value ?? 0)
            }
        }
        take(after)
        return true
    }
}

@Suite("Containers that replicate a profile", .timeLimit(.minutes(20)))
struct ReplicaTests {
    @Test("A container gets no event for its own change if only attributes outside its control differ")
    func ownChanges() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        // Set over https, which is not part of a container's change.
        try stage.set("a=1", profile: "private:m")
        let replica = try Replica(session: 11, stage)
        let change: JSON = [
            "change": "set", "base": .number(JSONNumber(replica.version)),
            "cookie": ["name": "a", "value": "2", "host": "a.example"],
        ]
        let answer = try stage.call(
            ApplyTask(service: stage.service), ["profile": "private:m", "replica": "web", "changes": [change]],
            session: 11)
        #expect(answer["refused"] == [])
        #expect(answer["version"] == .number(JSONNumber(replica.version + 1)))
        #expect(stage.sink.take(11).isEmpty)
    }

    @Test(
        "Two containers and a program that change the same cookies converge with few messages",
        arguments: [(1, 600), (2, 600), (3, 10_000)] as [(UInt64, Int)])
    func converge(seed: UInt64, steps: Int) throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        var random = SeededGenerator(seed: seed)
        try stage.set("begin=1; Secure", profile: "private:m")
        var replicas = [try Replica(session: 11, stage), try Replica(session: 12, stage)]
        for step in 0..<steps {
            // Few names, to cause conflicts; later many, to cause evictions.
            let name = "c\(Int.random(in: 0..<(step > steps / 2 ? 400 : 8), using: &random))"
            let one = Int.random(in: 0..<3, using: &random)
            switch one {
            case 2: try stage.set("\(name)=p\(step); Secure", profile: "private:m")
            default:
                replicas[one].jar[name] = Bool.random(using: &random) ? .string("\(one)-\(step)") : nil
                if Bool.random(using: &random) { _ = try replicas[one].synchronize(stage) }
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                let other = Int.random(in: 0..<2, using: &random)
                replicas[other].take(stage.sink.take(replicas[other].session))
            }
        }
        var rounds = 0
        var isQuiet = false
        while !isQuiet, rounds < 10 {
            rounds += 1
            isQuiet = true
            for index in replicas.indices {
                if try replicas[index].synchronize(stage) { isQuiet = false }
                let events = stage.sink.take(replicas[index].session)
                if !events.isEmpty { isQuiet = false }
                replicas[index].take(events)
            }
        }
        #expect(rounds <= 4)
        #expect(replicas.allSatisfy { $0.messages <= steps })
        let got = try stage.call(GetTask(service: stage.service), ["profile": "private:m"])
        let daemons = Dictionary(
            (got["cookies"]?.arrayValue ?? []).map { ($0["name"]?.stringValue ?? "", $0["value"] ?? nil) },
            uniquingKeysWith: { first, _ in first })
        for replica in replicas { #expect(replica.jar == daemons && replica.shadow == daemons) }
        #expect(daemons.count <= 180)
    }

    @Test("A writer gets no event for its own change, and an equal cookie is not a change")
    func guards() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        var replica = try Replica(session: 11, stage)
        let other = try Replica(session: 12, stage)
        replica.jar["a"] = "1"
        #expect(try replica.synchronize(stage))
        #expect(stage.sink.take(replica.session) == [])
        #expect(stage.sink.take(other.session).count == 1)
        let version = replica.bases["a"]
        replica.shadow["a"] = nil
        #expect(try replica.synchronize(stage))
        #expect(replica.bases["a"] == version)
        #expect(stage.sink.take(other.session) == [])
    }

    @Test("A container cannot remove a pinned cookie or overwrite a newer version")
    func refusals() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try stage.call(
            SetTask(service: stage.service),
            ["profile": "private:m", "url": "https://a.example/", "line": "pinned=1; Secure", "pin": true])
        var replica = try Replica(session: 11, stage)
        replica.jar["pinned"] = nil
        #expect(try replica.synchronize(stage))
        #expect(replica.jar["pinned"] == "1")
        try stage.set("pinned=2; Secure", profile: "private:m")
        replica.jar["pinned"] = "3"
        #expect(try replica.synchronize(stage))
        #expect(replica.jar["pinned"] == "2")
        let error = #expect(throws: BridgeError.self) {
            try stage.call(
                ApplyTask(service: stage.service), ["replica": "other", "changes": []], session: 11)
        }
        #expect(error?.code == "cookie.not_attached")
    }
}

/// A SplitMix64 generator, which returns the same numbers for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
