import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Capacitor pages")
struct CapacitorTests {
    let bench = dialectBench()
    let page: FakeClient

    init() { page = bench.client() }

    private func answer(_ line: String) -> JSON? {
        page.send(line)
        return page.readOne()
    }

    /// Returns a call as Capacitor's JavaScript writes it on iOS.
    private func call(_ plugin: String, _ method: String, _ options: String = "{}", id: String) -> String {
        #"{"callbackId":"\#(id)","pluginId":"\#(plugin)","methodName":"\#(method)","options":\#(options),"#
            + #""type":"message"}"#
    }

    private func listen(to event: String, of plugin: String, id: String) {
        page.send(call(plugin, "addListener", #"{"eventName":"\#(event)"}"#, id: id))
    }

    private func event(_ plugin: String, _ data: JSON, id: String) -> JSON {
        [
            "callbackId": .string(id), "pluginId": .string(plugin), "methodName": "addListener", "save": true,
            "success": true, "data": data,
        ]
    }

    @Test("call tasks without a dot as methods of the plugin Trestle")
    func ownPlugin() {
        #expect(
            answer(call("Trestle", "echo", #"{"a":1}"#, id: "1"))
                == [
                    "callbackId": "1", "pluginId": "Trestle", "methodName": "echo", "save": false, "success": true,
                    "data": ["a": 1],
                ])
    }

    @Test("get UNIMPLEMENTED for an unknown method, with the native error code in the data")
    func unimplemented() {
        let answer = answer(call("Camera", "shoot", id: "1"))
        #expect(answer?["success"] == false && answer?["save"] == false)
        #expect(answer?["error"]?["code"] == "UNIMPLEMENTED")
        #expect(answer?["error"]?["data"]?["code"] == "task.not_found")
        #expect(answer?["error"]?["message"]?.stringValue?.contains("Camera.shoot") == true)
    }

    @Test("get events under the id of addListener until removeListener; neither call is answered")
    func listeners() {
        listen(to: "resume", of: "App", id: "55")
        listen(to: "resume", of: "App", id: "56")
        #expect(page.read().isEmpty)
        bench.runtime.publish("App.resume", data: ["isActive": true])
        #expect(
            page.read() == [event("App", ["isActive": true], id: "55"), event("App", ["isActive": true], id: "56")])
        page.send(call("App", "removeListener", #"{"callbackId":"55","eventName":"resume"}"#, id: "57"))
        bench.runtime.publish("App.resume", data: 2)
        #expect(page.read() == [event("App", 2, id: "56")])
        page.send(call("App", "removeListener", #"{"callbackId":"56","eventName":"resume"}"#, id: "58"))
        bench.runtime.publish("App.resume", data: 3)
        #expect(page.read().isEmpty)
        #expect(page.session.subscriptions.isEmpty)
    }

    @Test("receive events without a dot as events of the plugin Trestle, and retained events at once")
    func ownEvents() {
        let publisher = bench.client()
        publisher.send(
            #"{"task":"bridge.publish","options":{"event":"ready","data":1,"retain":true},"callbackId":1}"#)
        listen(to: "ready", of: "Trestle", id: "5")
        #expect(page.read() == [event("Trestle", 1, id: "5")])
    }

    @Test("remove all listeners of a plugin with one call, which is answered")
    func removeAll() {
        listen(to: "resume", of: "App", id: "1")
        listen(to: "pause", of: "App", id: "2")
        listen(to: "pause", of: "App.More", id: "3")
        #expect(answer(call("App", "removeAllListeners", id: "4"))?["data"] == [:])
        for name in ["App.resume", "App.pause", "App.More.pause"] { bench.runtime.publish(name, data: 1) }
        #expect(page.read() == [event("App.More", 1, id: "3")])
    }

    @Test("get an error if a listener cannot be added")
    func refusedListeners() {
        for options in ["{}", #"{"eventName":7}"#] {
            let refusal = answer(call("App", "addListener", options, id: "1"))
            #expect(refusal?["success"] == false && refusal?["error"]?["code"] == "message.invalid", "\(options)")
        }
        let wrong = answer(call("App", "addListener", #"{"eventName":"no name"}"#, id: "1"))
        #expect(wrong?["callbackId"] == "1" && wrong?["pluginId"] == "App" && wrong?["methodName"] == "addListener")
        #expect(wrong?["error"]?["code"] == "options.invalid")
        for id in 1...8 { listen(to: "resume", of: "App", id: "\(id)") }
        #expect(
            answer(call("App", "addListener", #"{"eventName":"resume"}"#, id: "9"))?["error"]?["code"]
                == "quota.exceeded")
    }

    @Test("cannot add or remove listeners with options of more than 65,536 bytes")
    func longOptions() {
        for (method, member) in [("addListener", "eventName"), ("removeListener", "callbackId")] {
            func options(_ count: Int) -> String {
                let start = #"{"\#(member)":"1","more":""#
                return start + String(repeating: "x", count: count - start.utf8.count - 2) + #""}"#
            }
            page.send(call("App", method, options(65_536), id: "1"))
            #expect(page.read().isEmpty, "\(method)")
            let error = answer(call("App", method, options(65_537), id: "2"))?["error"]
            #expect(error?["code"] == "message.invalid", "\(method)")
            #expect(error?["message"]?.stringValue?.contains("of at most 65536 bytes") == true, "\(method)")
        }
        #expect(page.session.subscriptions.isEmpty)
    }

    @Test("have a limit of listeners, which follows from the session's limit of subscriptions")
    func quota() {
        var quotas = QuotaLimits()
        quotas.sessionSubscriptions = 10
        bench.runtime.apply(quotas)
        for id in 1...5 { listen(to: "e\(id)", of: "App", id: "\(id)") }
        #expect(page.read().isEmpty)
        #expect(
            answer(call("App", "addListener", #"{"eventName":"more"}"#, id: "9"))?["error"]?["code"] == "quota.exceeded"
        )
    }

    @Test("keep their listeners when the session continues in another daemon")
    func handover() throws {
        listen(to: "resume", of: "App", id: "55")
        let text = try JSONCoding.encode(bench.runtime.record(of: page.session))
        let record = try text.withUnsafeBytes { try JSONCoding.decode(SessionRecord.self, from: $0) }
        let next = Bench()
        let session = next.runtime.resume(record, peer: page.session.peer, transport: page.transport)
        next.runtime.publish("App.resume", data: 1)
        let line = try JSON(parsing: Array(session.output.bytes.dropLast()))
        #expect(line == event("App", 1, id: "55"))
    }

    @Test("keep their own subscription when a listener for the same event is removed")
    func subscription() {
        listen(to: "resume", of: "App", id: "1")
        _ = answer(call("bridge", "subscribe", #"{"events":["App.resume"]}"#, id: "2"))
        page.send(call("App", "removeListener", #"{"callbackId":"1"}"#, id: "3"))
        bench.runtime.publish("App.resume", data: 1)
        #expect(page.read() == [["event": "App.resume", "data": 1]])
    }

    @Test("report uncaught errors as one-way calls of js.error")
    func scriptErrors() {
        let error = #"{"message":"x is not defined","url":"https://localhost/","line":3,"col":7}"#
        page.send(#"{"type":"js.error","error":\#(error)}"#)
        #expect(page.read().isEmpty)
        let watcher = bench.client()
        watcher.send(#"{"task":"bridge.register","options":{"tasks":["js.error"]},"callbackId":1}"#)
        _ = watcher.read()
        page.send(#"{"type":"js.error","error":\#(error)}"#)
        let call = watcher.readOne()
        #expect(call?["task"] == "js.error" && call?["options"]?["line"] == 3 && call?["callbackId"] == nil)
    }

    @Test("may call in the form of Cordova plugins, and are answered in Capacitor's form")
    func cordova() {
        let message = { (service: String, action: String) in
            #"{"type":"cordova","callbackId":"Device7","service":"\#(service)","action":"\#(action)","actionArgs":[1,2]}"#
        }
        let none = answer(message("Device", "getDeviceInfo"))
        #expect(none?["callbackId"] == "Device7" && none?["error"]?["code"] == "UNIMPLEMENTED")
        #expect(none?["pluginId"] == "Device" && none?["methodName"] == "getDeviceInfo")
        #expect(answer(message("Trestle", "subtract"))?["success"] == true)
        #expect(
            answer(#"{"type":"cordova","callbackId":"1","service":"a","action":"b","actionArgs":1}"#)?["error"]?["code"]
                == "message.invalid")
    }

    @Test("cannot add a listener with an id above the maximum length")
    func longIDs() {
        let id = String(repeating: #"\u0041"#, count: 100)
        #expect(
            answer(call("App", "addListener", #"{"eventName":"resume"}"#, id: id))?["error"]?["code"]
                == "message.invalid")
    }
}
