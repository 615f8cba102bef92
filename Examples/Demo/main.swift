// The main job of Trestle, end to end, on a running daemon: every message sent and every callback received.
//
//     trestle-demo SOCKET
//
// The exit status is 0 only if each answer is the expected one.
import BridgeJSON
import Glibc

func greet(_ page: Client) throws {
    try page.call("h1", "bridge.hello", ["client": "demo", "version": "1"], "protocol version 1") {
        $0["protocol"] == 1
    }
}

func alert(_ page: Client) throws {
    try page.call("a1", "Alert", ["content": "Hello, world", "btn": "Fine"], "the button of the log presenter") {
        $0["button"] == "Fine" && $0["presenter"] == "log"
    }
}

func login(_ page: Client) throws {
    let account: JSON = ["user": "ann", "password": "correct horse battery staple"]
    try page.call("l1", "login.users.add", account, "the account made") { $0 == [:] }
    try page.call("l2", "login", account, "a token") { $0["user"] == "ann" && $0["token"]?.stringValue != nil }
    try page.call("l3", "login.status", [:], "the logged-in user") { $0["user"] == "ann" }
    try page.send(#"{"task":"login","options":{"user":"ann","password":"wrong"},"callbackId":"l4"}"#)
    try page.expect("login.failed") { $0["error"]?["code"] == "login.failed" }
}

func persist(_ page: Client) throws {
    let note: JSON = ["title": "Milk", "pieces": 2, "done": false]
    try page.call("p1", "persistence.create", ["table": "notes", "key": "n1", "record": note], "the key") {
        $0["key"] == "n1"
    }
    try page.call("p2", "persistence.create", ["table": "notes", "key": "n2", "record": ["title": "Bread"]], "the key")
    {
        $0["key"] == "n2"
    }
    try page.call("p3", "persistence.read", ["table": "notes", "key": "n1"], "the record") { $0["record"] == note }
    try page.call(
        "p4", "persistence.update", ["table": "notes", "key": "n1", "patch": ["done": true]], "a higher version"
    ) { ($0["version"]?.int64Value ?? 0) > 2 }
    try page.call("p5", "persistence.query", ["table": "notes", "where": ["done": true]], "one record, patched") {
        $0["records"]?.arrayValue?.count == 1 && $0["records"]?[0]?["record"]?["done"] == true
    }
    try page.call("p6", "persistence.delete", ["table": "notes", "key": "n1"], "the deletion's version") {
        $0["key"] == "n1"
    }
    try page.send(#"{"task":"persistence.read","options":{"table":"notes","key":"n1"},"callbackId":"p7"}"#)
    try page.expect("record.not_found") { $0["error"]?["code"] == "record.not_found" }
}

func provide(_ page: Client, _ camera: Client) throws {
    try camera.call("r1", "bridge.register", ["tasks": ["scan"]], "the registered task") { $0["tasks"]?[0] == "scan" }
    try page.send(#"{"task":"scan","options":{"light":true},"callbackId":"s1","progress":true}"#)
    let call = try camera.expect("the call, with its caller") {
        $0["task"] == "scan" && $0["options"] == ["light": true] && $0["caller"]?["session"] != nil
    }
    let id = call["callbackId"]?.text ?? ""
    try camera.send(#"{"callbackId":\#(id),"progress":0.5,"sequence":0}"#)
    try page.expect("half of it") { $0["callbackId"] == "s1" && $0["progress"]?.doubleValue == 0.5 }
    try camera.send(#"{"callbackId":\#(id),"result":{"code":"4006381333931"}}"#)
    try page.expect("the code") { $0["callbackId"] == "s1" && $0["result"]?["code"] == "4006381333931" }
}

func cancel(_ page: Client, _ camera: Client) throws {
    try page.send(#"{"task":"scan","callbackId":"s2"}"#)
    let call = try camera.expect("the call") { $0["task"] == "scan" }
    try page.send(#"{"cancel":"s2"}"#)
    try page.expect("call.cancelled") { $0["callbackId"] == "s2" && $0["error"]?["code"] == "call.cancelled" }
    try camera.expect("the cancel") { $0["cancel"] == call["callbackId"] }
}

func sendNonsense(_ page: Client) throws {
    try page.send(#"{"task":"Echo","callbackId":"b1","options":{"a":}}"#)
    try page.expect("message.invalid, with the id") {
        $0["callbackId"] == "b1" && $0["error"]?["code"] == "message.invalid"
    }
    try page.call("b2", "Echo", ["still": "here"], "the echo") { $0 == ["still": "here"] }
}

func close(_ page: Client, _ camera: Client) throws {
    try page.send(#"{"task":"scan","callbackId":"c1"}"#)
    let call = try camera.expect("the call") { $0["task"] == "scan" }
    try page.call("c2", "closeWeb", ["info": ["reason": "done"]], "its own callback first of all") { _ in true }
    try page.expect("call.cancelled for the call in flight") { $0["error"]?["code"] == "call.cancelled" }
    try camera.expect("the cancel") { $0["cancel"] == call["callbackId"] }
    try page.expect("web.close") { $0["event"] == "web.close" && $0["data"]?["info"]?["reason"] == "done" }
    try page.expectEnd()
}

func run(_ demonstration: Demonstration) throws {
    let page = try demonstration.connect("page  ")
    demonstration.title("A page greets the daemon")
    try greet(page)
    demonstration.title("Alert: nobody presents alerts yet, so the log does")
    try alert(page)
    demonstration.title("An account, a login, and a wrong password")
    try login(page)
    demonstration.title("Records: create, read, update, query, delete")
    try persist(page)
    demonstration.title("A second client provides a task, and reports progress")
    let camera = try demonstration.connect("camera")
    try provide(page, camera)
    demonstration.title("A cancel is passed on")
    try cancel(page, camera)
    demonstration.title("A bad message is answered, and the connection lives on")
    try sendNonsense(page)
    demonstration.title("The page closes itself")
    try close(page, camera)
}

guard CommandLine.arguments.count == 2 else {
    print("usage: trestle-demo SOCKET")
    exit(64)
}
let demonstration = Demonstration(path: CommandLine.arguments[1])
do {
    try run(demonstration)
    print("\n\(demonstration.messageCount) messages, each as expected.")
} catch {
    print("\nThe demonstration failed: \(error)")
    exit(1)
}
