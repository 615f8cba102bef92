import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Work whose amount a client controls is split into steps")
struct StepTests {
    private let bench = Bench()
    private let turns: FakeTurns

    init() { turns = FakeTurns(bench) }

    private func slow() { turns.slow() }
    private func runJobs() -> Int { turns.runJobs() }

    @Test("When a session with many calls ends, other work runs in between, and every call ends")
    func endOfSession() {
        let caller = bench.client(uid: 0)
        for id in 0..<200 { caller.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        #expect(bench.host.started.count == 200)
        slow()
        bench.runtime.hangUp(caller.session)
        #expect(bench.host.cancelled.count < 200)
        #expect(turns.waitingUsers == 1)
        // Another client is served in between.
        let other = bench.client(uid: 0)
        other.send(#"{"task":"bridge.ping","callbackId":1}"#)
        #expect(other.readOne()?["result"] != nil)
        #expect(runJobs() > 5)
        #expect(bench.host.cancelled.count == 200)
        #expect(bench.runtime.callsInFlight == 0)
        #expect(bench.runtime.sessionCount == 1)
    }

    @Test("A session that another one closes gets all callbacks, then the event, over several turns")
    func closedSession() {
        let client = bench.client(uid: 0)
        for id in 0..<100 { client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        slow()
        bench.runtime.lifecycle.close(client.session, info: .null)
        _ = runJobs()
        let messages = client.read()
        #expect(messages.dropLast().compactMap { $0["callbackId"]?.int64Value } == Array(0..<100))
        #expect(messages.dropLast().allSatisfy { $0.errorCode == "call.cancelled" })
        #expect(messages.last?["event"] == "web.close")
        #expect(client.transport.isToBeClosed)
    }

    @Test("When a provider disconnects, its calls end over several turns")
    func endOfProvider() {
        let provider = bench.client(uid: 0)
        provider.send(#"{"task":"bridge.register","options":{"tasks":["t"]},"callbackId":"r"}"#)
        let caller = bench.client(uid: 0)
        for id in 0..<100 { caller.send(#"{"task":"t","callbackId":\#(id)}"#) }
        slow()
        bench.runtime.hangUp(provider.session)
        _ = runJobs()
        let codes = caller.read().map(\.errorCode)
        #expect(codes == Array(repeating: "provider.closed", count: 100))
    }

    @Test("A disconnected provider gets no calls while its end is in progress", arguments: [0, 5] as [UInt32])
    func goneProvider(callerUID: UInt32) {
        bench.runtime.apply(
            Policy(
                daemonUID: Bench.daemonUID,
                rules: [PolicyRule(.allow, [.call, .register, .serve], file: "t.toml", line: 1)]))
        let (old, newer) = (bench.client(uid: 0), bench.client(uid: 0))
        for provider in [old, newer] {
            provider.send(#"{"task":"bridge.register","options":{"tasks":["t"]},"callbackId":"r"}"#)
            #expect(provider.readOne()?["result"] != nil)
        }
        bench.runtime.turnShare = { 0 }
        bench.runtime.hangUp(newer.session)
        let caller = bench.client(uid: callerUID)
        caller.send(#"{"task":"t","callbackId":1}"#)
        #expect(old.readOne()?["task"] == "t")
        #expect(newer.read().isEmpty)
        // The last provider disconnects, too.
        bench.runtime.hangUp(old.session)
        caller.send(#"{"task":"t","callbackId":2}"#)
        #expect(caller.readOne()?.errorCode == "task.not_found")
        _ = runJobs()
        #expect(caller.readOne()?.errorCode == "provider.closed")
        #expect(bench.runtime.tasks.find("t") == nil)
    }

    @Test("A long event is read over several turns, and published as a whole")
    func longEvent() {
        let listener = bench.client(uid: 0)
        listener.send(#"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":1}"#)
        let publisher = bench.client(uid: 0)
        let zeros = "[" + String(repeating: "0,", count: 200_000) + "0]"
        _ = listener.read()
        slow()
        publisher.send(#"{"task":"bridge.publish","options":{"data":\#(zeros),"event":"e"},"callbackId":"p"}"#)
        #expect(publisher.session.waitsForJobs)
        #expect(listener.read().isEmpty)
        #expect(runJobs() > 5)
        #expect(publisher.readOne()?["result"] == [:])
        #expect(listener.readOne()?["data"]?.arrayValue?.count == 200_001)
        publisher.send(#"{"task":"bridge.publish","options":\#(zeros),"callbackId":"q"}"#)
        _ = runJobs()
        #expect(publisher.readOne()?.errorCode == "options.invalid")
    }

    @Test("The clock is read once for each call; in a turn, an input begins when the one before it has ended")
    func readings() {
        let (first, second) = (bench.client(), bench.client())
        func readings(of clients: [FakeClient]) -> Int {
            bench.clock.tick = .microseconds(1)
            let start = bench.clock.now
            for client in clients {
                bench.runtime.beginInput()
                client.send(#"{"task":"bridge.hello","callbackId":1}"#)
                bench.runtime.endInput()
            }
            let passed = bench.clock.now.since(start)
            bench.clock.tick = .zero
            return Int(passed / .microseconds(1)) - 1
        }
        bench.runtime.writeOutput()
        #expect(readings(of: [first, second]) == 3)
        #expect(readings(of: [second]) == 1)
        bench.runtime.writeOutput()
        #expect(readings(of: [first]) == 2)
    }

    @Test(
        "The time of every kind of message counts against its user's share",
        arguments: [
            #"{"task":"nobody","callbackId":ID}"#, #"{"task":"nobody"}"#, #"{"task":"slow","callbackId":ID}"#,
            #"{"task":"slow","callbackId":1}"#, #"{"task":"slow"}"#, "7", #"{"cancel":ID}"#, #"{"event":"e"}"#,
            #"{"task":"bridge.ping","callbackId":ID}"#, #"{"callbackId":ID,"result":1}"#,
        ])
    func inputTime(line: String) {
        let client = bench.client(uid: 0)
        slow()
        bench.runtime.beginInput()
        for id in 0..<10 { client.send(line.replacing("ID", with: "\(id)")) }
        #expect(bench.runtime.inputNanoseconds >= 10_000)
        bench.runtime.endInput()
    }

    private func registration(of names: [String], schema: String) -> String {
        let tasks = names.map { #""\#($0)""# }.joined(separator: ",")
        let descriptions = names.map { #""\#($0)":{"options":\#(schema)}"# }.joined(separator: ",")
        return #"{"task":"bridge.register","options":{"tasks":[\#(tasks)],"descriptions":{\#(descriptions)}},"#
            + #""callbackId":"r"}"#
    }

    @Test("A registration reads its descriptions one after the other, and registers all tasks at the end")
    func registration() {
        let client = bench.client(uid: 0)
        slow()
        client.send(registration(of: (0..<50).map { "t\($0)" }, schema: #"{"type":"object"}"#))
        #expect(client.read().isEmpty)
        #expect(client.session.waitsForJobs)
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(runJobs() > 1)
        #expect(client.readOne()?["result"]?["tasks"]?.arrayValue?.count == 50)
        #expect(bench.runtime.tasks.find("t49") != nil)
        #expect(!client.session.waitsForJobs)
    }

    @Test("The descriptions of a registration are divided among its tasks over several turns")
    func descriptions() throws {
        let names = (0..<1_000).map { "t\($0)" }
        let text = "{\(names.map { "\"\($0)\":{}" }.joined(separator: ","))}"
        var texts = Array(text.utf8).withUnsafeBytes { RegistrationTexts($0) }
        let spent = StepBudget(clock: bench.clock, end: 0)
        var turns = 1
        var found = try texts.cut(names, until: spent)
        while found == nil {
            turns += 1
            found = try texts.cut(names, until: spent)
        }
        #expect(found?.map(\.task) == names)
        #expect(turns >= 8)
    }

    @Test("A registration with an invalid description, or whose session closes meanwhile, registers nothing")
    func brokenRegistration() {
        let client = bench.client(uid: 0)
        slow()
        client.send(
            #"{"task":"bridge.register","options":{"tasks":["a","b"],"descriptions":{"a":{},"b":{"options":7}}},"#
                + #""callbackId":"r"}"#)
        _ = runJobs()
        #expect(client.readOne()?.errorCode == "options.invalid")
        #expect(bench.runtime.tasks.find("a") == nil)
        client.send(registration(of: (0..<50).map { "t\($0)" }, schema: "{}"))
        bench.runtime.hangUp(client.session)
        _ = runJobs()
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(bench.runtime.callsInFlight == 0)
    }

    @Test("A name that is registered 200 times in one message is registered once")
    func repeatedName() {
        let client = bench.client(uid: 0)
        let names = Array(repeating: #""t""#, count: 200).joined(separator: ",")
        client.send(#"{"task":"bridge.register","options":{"tasks":[\#(names)]},"callbackId":1}"#)
        #expect(client.readOne()?["result"]?["tasks"] == ["t"])
        #expect(client.session.account.tasks == 1)
    }

    @Test("Output to many sessions of one user leaves time for output to another user")
    func output() {
        let attackers = (0..<300).map { _ in bench.client(uid: 1) }
        let victim = bench.client(uid: 2)
        let subscription = #"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":1}"#
        bench.runtime.apply(everybodyMay())
        for client in attackers + [victim] { client.send(subscription) }
        bench.runtime.writeOutput()
        let before = attackers.map(\.transport.writes)
        slow()
        bench.runtime.publish("e", data: "x")
        bench.runtime.writeOutput()
        #expect(victim.transport.writes == 2)
        let written = zip(attackers, before).count { $0.transport.writes > $1 }
        #expect(written < 50)
        #expect(runJobs() > 5)
        #expect(zip(attackers, before).allSatisfy { $0.transport.writes == $1 + 1 })
    }

    @Test("A session that watches the traffic sees an event when all have it, with each receiver counted once")
    func watchedOutput() throws {
        bench.runtime.apply(everybodyMay())
        for _ in 0..<200 {
            bench.client(uid: 1).send(
                #"{"task":"bridge.subscribe","options":{"events":["e.*","e.f"]},"callbackId":1}"#)
        }
        let (watcher, publisher) = (bench.client(uid: 0), bench.client(uid: 0))
        watcher.send(#"{"task":"bridge.monitor","callbackId":"m"}"#)
        _ = watcher.read()
        slow()
        publisher.send(#"{"task":"bridge.publish","options":{"event":"e.f","data":7},"callbackId":2}"#)
        let isEvent = { (message: JSON) in message["data"]?["kind"] == "event" }
        #expect(!watcher.read().contains(where: isEvent))
        _ = runJobs()
        let shown = watcher.read().filter(isEvent).map { $0["data"]?["receivers"] }
        #expect(shown == [200])
    }

    @Test("Many calls with the same deadline end over several turns")
    func deadlines() {
        let client = bench.client(uid: 0)
        for id in 0..<1_000 { client.send(#"{"task":"quick","callbackId":\#(id)}"#) }
        bench.clock.runtime = nil
        bench.clock.advance(.milliseconds(50))
        slow()
        bench.runtime.expire()
        var ended = client.read().count
        #expect(ended > 0 && ended < 1_000)
        for _ in 0..<100 where ended < 1_000 {
            #expect(bench.clock.wakeTime.map { $0 <= bench.clock.now } == true)
            bench.runtime.expire()
            ended += client.read().count
        }
        #expect(ended == 1_000)
    }

    @Test("The quota of subscriptions is checked before the rights to each name")
    func quotaFirst() {
        let client = bench.client(uid: 5)
        bench.runtime.apply(
            Policy(
                daemonUID: Bench.daemonUID,
                rules: [PolicyRule(.allow, [.call], file: "t.toml", line: 1)]))
        let names = (0..<300).map { #""n\#($0)""# }.joined(separator: ",")
        client.send(#"{"task":"bridge.subscribe","options":{"events":[\#(names)]},"callbackId":1}"#)
        #expect(client.readOne()?.errorCode == "quota.exceeded")
        client.send(#"{"task":"bridge.subscribe","options":{"events":["n1"]},"callbackId":2}"#)
        #expect(client.readOne()?.errorCode == "permission.denied")
    }

    @Test("Options above the task's limit of bytes are refused before they are read")
    func optionBytes() {
        let bench = Bench(extraTasks: [TaskDescription(name: "short")])
        let client = bench.client(uid: 0)
        let text = String(repeating: "x", count: 65_535)
        client.send(#"{"task":"short","options":"\#(text)","callbackId":1}"#)
        let answer = client.readOne()
        #expect(answer?.errorCode == "options.invalid")
        #expect(answer?["error"]?["message"]?.stringValue?.contains("65536 bytes") == true)
        #expect(bench.host.started.isEmpty)
        client.send(#"{"task":"short","options":"\#(text.dropLast(100))","callbackId":2}"#)
        #expect(bench.host.started.count == 1)
    }

    private func everybodyMay() -> Policy {
        let verbs: [PolicyVerb] = [.call, .subscribe]
        return Policy(daemonUID: Bench.daemonUID, rules: [PolicyRule(.allow, verbs, file: "t.toml", line: 1)])
    }

    @Test("rpc.discover describes a few tasks at a time, and other clients are served in between")
    func discover() {
        let schema = #"{"enum":[\#(Array(repeating: "{}", count: 20_000).joined(separator: ","))]}"#
        let providers = (0..<16).map { number -> FakeClient in
            let client = bench.client(uid: 0)
            client.send(
                #"{"task":"bridge.register","options":{"tasks":["t\#(number)"],"descriptions":"#
                    + #"{"t\#(number)":{"result":\#(schema)}}},"callbackId":1}"#)
            _ = runJobs()
            #expect(client.readOne()?["result"] != nil)
            return client
        }
        bench.host.onStart = { [unowned bench] started in
            if started.work == .describe { bench.reply(bench.host.started.count - 1, "{}") }
        }
        let client = bench.client(uid: 0)
        // Each reading of the clock uses most of a share, so there are about as many shares as steps.
        bench.clock.tick = .microseconds(15)
        client.send(#"{"task":"rpc.discover","callbackId":1}"#)
        #expect(client.session.waitsForJobs && client.read().isEmpty)
        let other = bench.client(uid: Bench.daemonUID)
        other.send(#"{"task":"bridge.ping","callbackId":2}"#)
        #expect(other.readOne()?["result"] != nil)
        #expect(runJobs() > 15)
        let methods = client.readOne()?["result"]?["methods"]?.arrayValue ?? []
        #expect(methods.count { $0["name"]?.stringValue?.hasPrefix("t") == true } == 16)
        #expect(!client.session.waitsForJobs)
        // A cancelled call gets no document.
        client.send(#"{"task":"rpc.discover","callbackId":3}"#)
        client.send(#"{"cancel":3}"#)
        _ = runJobs()
        #expect(client.readOne()?.errorCode == "call.cancelled")
        withExtendedLifetime(providers) {}
    }
}
