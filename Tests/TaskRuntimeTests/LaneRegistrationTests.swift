import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Long task descriptions are parsed in the lane")
struct LaneRegistrationTests {
    private let lane = ManualLane()
    private let bench: Bench
    private final class Announced {
        var accounts: [UserAccount] = []
    }
    private let announced = Announced()

    init() {
        bench = Bench(lane: lane)
        bench.runtime.onSteps = { [announced] in announced.accounts.append($0) }
    }

    private static let long = #"{"description":"\#(String(repeating: "x", count: 2_000))"}"#

    private func register(_ client: FakeClient, _ schemas: [String]) {
        let names = schemas.indices.map { #""t\#($0)""# }.joined(separator: ",")
        let descriptions = schemas.enumerated().map { #""t\#($0)":{"options":\#($1)}"# }.joined(separator: ",")
        client.send(
            #"{"task":"bridge.register","options":{"tasks":[\#(names)],"descriptions":{\#(descriptions)}},"#
                + #""callbackId":"r"}"#)
    }

    @Test("Short descriptions are parsed at once, unless they contain a pattern, which may be large")
    func short() {
        let client = bench.client()
        register(client, [#"{"type":"object"}"#])
        #expect(client.readOne()?["result"] != nil)
        for schema in [#"{"pattern":"a{999}"}"#, #"{"p\u0061ttern":"a{999}"}"#, Self.long] {
            register(client, [schema])
            #expect(client.read().isEmpty)
            #expect(lane.runAll() == 1)
            #expect(client.readOne()?["result"] != nil)
        }
    }

    @Test("Descriptions are parsed one after the other, and all tasks are registered at the end")
    func several() {
        let client = bench.client(uid: 0)
        register(client, [Self.long, "{}", Self.long])
        #expect(lane.uids == [0])
        #expect(client.session.waitsForJobs)
        lane.runNext()
        #expect(lane.uids == [0])
        #expect(bench.runtime.tasks.find("t0") == nil)
        lane.runNext()
        #expect(client.readOne()?["result"]?["tasks"] == ["t0", "t1", "t2"])
        #expect(!client.session.waitsForJobs)
        #expect(client.transport.releases == 1)
        #expect(client.session.account.queuedBytes == 0)
    }

    @Test("A registration that waits for the lane does not continue before the lane has finished")
    func parked() {
        let client = bench.client()
        register(client, [Self.long])
        #expect(announced.accounts.isEmpty)
        #expect(client.session.account.steps.jobs.isEmpty)
        // A job of another session of the user continues meanwhile.
        let other = bench.client()
        register(other, ["{}"])
        #expect(other.readOne()?["result"] != nil)
        // If the user's share is used up, the registration waits for the next share.
        bench.runtime.turnShare = { 0 }
        lane.runAll()
        #expect(client.read().isEmpty)
        #expect(announced.accounts.count == 1)
        #expect(!bench.runtime.runSteps(of: announced.accounts[0], forNanoseconds: 20_000))
        #expect(client.readOne()?["result"] != nil)
        #expect(client.transport.releases == 1)
    }

    @Test("An invalid description refuses the whole registration, and quotas are checked again at the end")
    func refused() {
        let client = bench.client()
        register(client, [Self.long, #"{"type":7,"pattern":"x"}"#])
        #expect(lane.runAll() == 2)
        #expect(client.readOne()?.errorCode == "options.invalid")
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(!client.session.waitsForJobs)
        register(client, [Self.long])
        var quotas = QuotaLimits()
        quotas.user.tasks = 0
        quotas.trustedFactor = 1
        bench.runtime.apply(quotas)
        lane.runAll()
        #expect(client.readOne()?.errorCode == "quota.exceeded")
        #expect(bench.runtime.tasks.find("t0") == nil)
    }

    @Test("A registration whose session ends its input meanwhile is refused, and registers nothing")
    func endedInput() {
        let client = bench.client()
        register(client, [Self.long])
        bench.runtime.endInput(of: client.session)
        #expect(client.read().isEmpty)
        lane.runAll()
        let answers = client.read()
        #expect(answers.map { $0["callbackId"] } == ["r"] && answers.first?.errorCode == "session.closed")
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(bench.runtime.callsInFlight == 0)
        // All answers have been sent.
        #expect(client.transport.isToBeClosed)
    }

    @Test("A registration whose call or session ends meanwhile registers nothing", arguments: [true, false])
    func ended(isTimeout: Bool) {
        let client = bench.client()
        register(client, [Self.long, Self.long])
        if isTimeout {
            bench.clock.advance(.seconds(3_600))
            #expect(client.readOne()?.errorCode == "call.timeout")
        } else {
            bench.runtime.hangUp(client.session)
        }
        #expect(lane.runAll() == 1)
        #expect(client.read().isEmpty)
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(!client.session.waitsForJobs)
        #expect(bench.runtime.callsInFlight == 0)
        #expect(bench.runtime.quotas.queuedBytes == 0)
    }

    @Test(
        "Parsed descriptions of unfinished registrations count for their user, and are released at the end",
        arguments: [true, false])
    func pending(isHungUp: Bool) {
        let rule = PolicyRule(.allow, [.call, .register], file: "t.toml", line: 1)
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [rule]))
        let schema = #"{"description":"\#(String(repeating: "x", count: 60_000))"}"#
        let clients = (0..<30).map { _ in bench.client(uid: 5) }
        let account = clients[0].session.account
        for client in clients { register(client, [schema, schema, schema, schema]) }
        var maximum = 0
        // Stops before the last description of each client is parsed.
        for _ in 0..<90 where !lane.uids.isEmpty {
            lane.runNext()
            maximum = max(maximum, account.descriptionBytes)
        }
        #expect(maximum > 31 << 20 && maximum <= 32 << 20)
        #expect(bench.runtime.quotas.descriptionBytes == account.descriptionBytes)
        let refused = clients.filter { $0.readOne()?.errorCode == "quota.exceeded" }
        #expect(refused.count > 5)
        if isHungUp {
            for client in clients { bench.runtime.hangUp(client.session) }
            lane.runAll()
        } else {
            lane.runAll()
            let names = #"["t0","t1","t2","t3"]"#
            for client in clients { client.send(#"{"task":"bridge.unregister","options":{"tasks":\#(names)}}"#) }
        }
        #expect(account.descriptionBytes == 0 && bench.runtime.quotas.descriptionBytes == 0)
    }

    @Test("A registration that replaces its session's descriptions counts only the added bytes")
    func replacing() {
        let client = bench.client()
        let account = client.session.account
        register(client, [Self.long, Self.long])
        lane.runAll()
        #expect(client.readOne()?["result"] != nil)
        let held = account.descriptionBytes
        register(client, [Self.long, Self.long, Self.long])
        lane.runNext()
        lane.runNext()
        #expect(account.descriptionBytes == held)
        lane.runNext()
        #expect(account.descriptionBytes == held / 2 * 3)
        #expect(client.readOne()?["result"] != nil)
    }
}
