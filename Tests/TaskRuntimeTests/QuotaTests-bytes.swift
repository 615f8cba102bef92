import BridgeJSON
import Logging
import Testing

@testable import TaskRuntime

extension QuotaTests {
    @Test("A result without room in the quota becomes an error, and the call gets one callback")
    func aResultThatNobodyHasRoom() {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let client = bench.client()
        for id in 1...4 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        let result = "\"" + String(repeating: "x", count: 90_000) + "\""
        for index in 0..<4 { bench.reply(index, result) }
        let answers = client.read()
        #expect(answers.map { $0["callbackId"]?.int64Value } == [1, 2, 3, 4])
        #expect(answers.map(\.errorCode) == [nil, nil, "busy", "busy"])
        let data: JSON = ["quota": "queued_bytes", "limit": 200_000, "of": "uid 0", "started": true]
        #expect(answers[3]["error"]?["data"] == data)
        bench.runtime.countQueued(client.session)
        #expect(begins(client, 5))
        bench.reply(4, result)
        #expect(client.readOne()?["result"] != nil)
    }

    @Test(
        "A table is not created for a caller that leaves answers unread and has no room for it",
        arguments: ["bridge.tasks", "bridge.describe", "rpc.discover", "bridge.sessions", "bridge.status"])
    func aTableIsNotMadeWithoutRoom(task: String) {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let client = bench.client()
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        client.send(#"{"task":"work","callbackId":3}"#)
        bench.reply(2, "1")
        client.send(#"{"task":"\#(task)","callbackId":4}"#)
        let answers = client.read()
        #expect(answers.map { $0["callbackId"] } == [3, 4])
        #expect(answers.map(\.errorCode) == [nil, "busy"])
        #expect(call(client, 5, task: task)?.errorCode != "busy")
    }

    @Test("A client that reads its answers gets the daemon's state even if others use the whole quota")
    func stateWithoutRoom() {
        let bench = bench { $0.queuedBytes = 200_000 }
        let (client, watcher) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        for id in 1...3 { #expect(call(watcher, id, task: "bridge.status")?["result"]?["callsInFlight"] == 3) }
    }

    @Test("Options of calls in flight are counted until the calls end")
    func optionsOfCallsInFlightAre() {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let (client, other) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        #expect(begins(client, 1, options: options))
        #expect(begins(client, 2, options: options))
        #expect(call(client, 3, options: options)?["error"]?["data"]?["quota"] == "queued_bytes")
        #expect(begins(other, 1, options: options))
        #expect(begins(client, 4))
        bench.reply(0, "1")
        _ = client.read()
        #expect(begins(client, 5, options: options))
    }

    @Test("All users together also have a limit")
    func allUsersTogetherAreBoundedAs() {
        let bench = bench {
            $0.user.queuedBytes = 200_000
            $0.queuedBytes = 250_000
        }
        let (client, other) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        #expect(call(other, 1, options: options)?["error"]?["data"]?["of"] == "all users")
    }

    @Test("The counts of a closed session return to zero")
    func nothingStaysCountedOfSessionsThat() {
        let bench = bench { _ in }
        let client = bench.client()
        client.send(#"{"task":"bridge.subscribe","options":{"events":["a"]},"callbackId":1}"#)
        client.send(#"{"task":"bridge.register","options":{"tasks":["a.b"]},"callbackId":2}"#)
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        _ = call(client, 3, options: options)
        bench.reply(0, options)
        bench.runtime.countQueued(client.session)
        let account = client.session.account
        #expect(account.connections == 1 && account.tasks == 1 && account.subscriptions == 1)
        #expect(account.queuedBytes > 90_000)
        bench.runtime.hangUp(client.session)
        #expect(account.connections == 0 && account.tasks == 0 && account.subscriptions == 0)
        #expect(account.callsInFlight == 0 && account.queuedBytes == 0 && bench.runtime.quotas.queuedBytes == 0)
    }
}
