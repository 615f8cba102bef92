import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Sessions that are handed over to the next daemon")
struct SessionHandoverTests {
    private let old = Bench()
    private let new = Bench()

    /// Resumes the session of a client of the old daemon in the new one, from the text of its record.
    private func carryOver(_ client: FakeClient) throws -> Session {
        let text = try JSONCoding.encode(old.runtime.record(of: client.session))
        let record = try text.withUnsafeBytes { try JSONCoding.decode(SessionRecord.self, from: $0) }
        return new.runtime.resume(record, peer: client.session.peer, transport: FakeTransport())
    }

    private func sessions(_ bench: Bench) throws -> [JSON] {
        let client = bench.client()
        client.send(#"{"task":"bridge.sessions","callbackId":1}"#)
        return try #require(client.readOne()?["result"]?["sessions"]?.arrayValue)
    }

    @Test("keep their number, age, and the data that clients gave about themselves")
    func identity() throws {
        let client = old.client(uid: 5)
        client.send(
            #"{"task":"bridge.hello","options":{"client":"c","version":"2","origin":"page:é","userAgent":"ua","#
                + #""page":{"id":7}},"callbackId":1}"#)
        _ = client.read()
        client.session.user = "ada"
        old.clock.advance(.seconds(3))
        let before = try #require(try sessions(old).first?.objectValue)
        _ = try carryOver(client)
        new.clock.advance(.seconds(2))
        let after = try #require(try sessions(new).first?.objectValue)
        #expect(before["openMs"] == 3000)
        // The new daemon's clock started at one second. No session is older than the daemon's clock.
        #expect(after["openMs"] == 3000)
        #expect(before == after)
        #expect(after["user"] == "ada")
    }

    @Test("keep their origin and cannot change it; sessions without an origin can still set one")
    func origins() throws {
        let named = old.client()
        named.send(#"{"task":"bridge.hello","options":{"origin":"a"}}"#)
        let plain = old.client()
        let (namedSession, plainSession) = (try carryOver(named), try carryOver(plain))
        #expect(namedSession.origin == "a" && namedSession.hasNamedOrigin)
        #expect(plainSession.origin == "local" && !plainSession.hasNamedOrigin)
    }

    @Test("keep their numbers, and no other session gets these")
    func numbers() throws {
        for _ in 0..<4 { _ = old.client() }
        let client = old.client()
        let session = try carryOver(client)
        #expect(session.number == 5)
        #expect(new.client().session.number == 6)
        new.runtime.continueSessions(after: 41)
        new.runtime.continueSessions(after: 7)
        #expect(new.client().session.number == 42)
    }

    @Test("keep their subscriptions; waiting events are moved to their output")
    func events() throws {
        let client = old.client()
        client.send(#"{"task":"bridge.subscribe","options":{"events":["a.*","b"]}}"#)
        _ = client.read()
        let filler = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
        filler.withUnsafeBytes { client.session.output.append($0) }
        old.runtime.publish("b", data: 1)
        #expect(!client.session.events.isEmpty)
        let session = try carryOver(client)
        #expect(client.session.events.isEmpty)
        #expect(client.read().last?["event"] == "b")
        new.runtime.publish("a.x", data: 1)
        new.runtime.publish("c", data: 1)
        let text = String(decoding: session.output.bytes, as: UTF8.self)
        #expect(text == "{\"event\":\"a.x\",\"data\":1}\n")
    }

    @Test("keep the tasks that they provide, and the order of their registration")
    func providing() throws {
        let clients = (0..<3).map { _ in old.client() }
        for client in clients {
            client.send(#"{"task":"bridge.register","options":{"tasks":["t"],"scope":"any"}}"#)
        }
        clients[0].send(#"{"task":"bridge.register","options":{"tasks":["t","mine"],"scope":"session"}}"#)
        let kept = old.runtime.providers(among: [1, 2])
        #expect(kept.map(\.task) == ["mine", "t", "t"])
        #expect(kept.map(\.session) == [1, 2, 1])
        let resumed = try clients.prefix(2).map(carryOver)
        #expect(new.runtime.restore(kept).isEmpty)
        let caller = new.client()
        caller.send(#"{"task":"t","callbackId":1}"#)
        // The first session accepts only calls that name it.
        #expect(resumed[0].output.isEmpty)
        #expect(!resumed[1].output.isEmpty)
        #expect(resumed[0].registrations == ["t", "mine"])
    }

    @Test("lose tasks that a plugin provides now; tasks of sessions that were not handed over are lost, too")
    func lostProviders() throws {
        let client = old.client()
        client.send(#"{"task":"bridge.register","options":{"tasks":["t","u"]}}"#)
        _ = new.add("taker", tasks: [TaskDescription(name: "t")], FakeHost())
        let session = try carryOver(client)
        let lost = new.runtime.restore(
            old.runtime.providers(among: [1]) + [ProviderRecord(task: "v", session: 99, scope: nil)])
        #expect(lost.map(\.task) == ["t", "v"])
        #expect(session.registrations == ["u"])
    }

    @Test("are reported as opened to the new daemon's plugins, but not to subscribers")
    func plugins() throws {
        let client = old.client()
        let observer = new.client()
        observer.send(#"{"task":"bridge.subscribe","options":{"events":["*"]}}"#)
        _ = observer.read()
        client.session.user = "ada"
        var record = old.runtime.record(of: client.session)
        record.number = 30
        _ = new.runtime.resume(record, peer: client.session.peer, transport: FakeTransport())
        #expect(new.host.changes.last.map { $0 == .opened && $1 == 30 } == true)
        #expect(observer.read().isEmpty)
    }

    @Test("are at rest only if no call by them or to them is in flight")
    func atRest() {
        let (caller, provider) = (old.client(), old.client())
        #expect(old.runtime.isAtRest(caller.session) && old.runtime.isAtRest(provider.session))
        provider.send(#"{"task":"bridge.register","options":{"tasks":["t"]}}"#)
        caller.send(#"{"task":"t","callbackId":1}"#)
        #expect(!old.runtime.isAtRest(caller.session) && !old.runtime.isAtRest(provider.session))
        #expect(old.runtime.isProviding(provider.session) && !old.runtime.isProviding(caller.session))
        let id = provider.read().last?["callbackId"]?.text ?? ""
        provider.send(#"{"callbackId":\#(id),"result":1}"#)
        #expect(old.runtime.isAtRest(caller.session) && old.runtime.isAtRest(provider.session))
    }

    @Test("that cannot be resumed get the reason before their connection is closed")
    func ended() throws {
        let client = old.client()
        old.runtime.end(client.session, because: "the store is full")
        #expect(
            client.read() == [["event": "session.lost", "data": ["reason": "the store is full"]]])
        #expect(client.transport.isToBeClosed)
        old.runtime.end(client.session, because: "again")
        #expect(client.read().isEmpty)
    }

    @Test("are read from records of other versions, with missing or additional members")
    func otherVersions() throws {
        func record(_ text: String) throws -> SessionRecord {
            try Array(text.utf8).withUnsafeBytes { try JSONCoding.decode(SessionRecord.self, from: $0) }
        }
        let minimum = new.runtime.resume(
            try record(#"{"number":9}"#), peer: .init(uid: 1, gid: 1, pid: 1), transport: nil)
        #expect(minimum.origin == "local" && minimum.user == nil && minimum.patterns.isEmpty)
        let more = try record(#"{"number":3,"openMs":-5,"events":["ok","*bad*"],"later":{"a":[1]}}"#)
        #expect(
            new.runtime.resume(more, peer: .init(uid: 1, gid: 1, pid: 1), transport: nil).patterns.map(\.text) == ["ok"]
        )
        #expect(throws: JSONMismatch.self) { try record(#"{"origin":"a"}"#) }
        #expect(throws: JSONMismatch.self) { try record(#"{"number":-1}"#) }
    }
}
