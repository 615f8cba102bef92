// Attacks with single expensive messages: long lists, batches, schemas.

/// Returns a list of comma-separated items between two texts.
private func list(_ count: Int, _ before: String, _ after: String, _ item: (Int) -> String) -> String {
    var text = before
    for index in 0..<count { text += index == 0 ? item(index) : "," + item(index) }
    return text + after
}

private func zeros(_ count: Int) -> String { list(count, "[", "]") { _ in "0" } }

/// Returns a short name for a number: unique, of letters and digits.
private func name(_ number: Int) -> String { String(number, radix: 36) }

/// The same message repeatedly, on one connection.
private func attack(_ name: String, answers: Int = 1, _ message: @escaping @Sendable () -> String) -> Attack {
    Attack(name: name) { .message(message(), on: try $0.connect(), of: $0, answers: answers) }
}

/// The attacker provides a task with a schema, and calls it with options that do not match: only the check takes time.
private func attack(_ name: String, schema: @escaping @Sendable () -> String, options: @escaping @Sendable () -> String)
    -> Attack
{
    Attack(name: name) { field in
        let description = #"{"schema.task":{"options":\#(schema())}}"#
        let provider = try field.connect()
        provider.answersCalls = true
        let answer = try field.ask(
            provider,
            callLine("bridge.register", #"{"tasks":["schema.task"],"descriptions":\#(description)}"#))
        if !answer.contains(#""result""#) { printStatus("\(name): the schema is refused: \(answer)") }
        return .message(callLine("schema.task", options()), on: try field.connect(), of: field)
    }
}

let messageAttacks = [
    attack("subscribe 149,000 names") {
        callLine("bridge.subscribe", list(149_000, #"{"events":["#, "]}") { "\"\(name($0 + 46_656))\"" })
    },
    attack("unsubscribe 110,000 names") {
        callLine("bridge.unsubscribe", list(110_000, #"{"events":["#, "]}") { "\"\(name($0 + 1_679_616))\"" })
    },
    attack("anyOf of 3,000 enums × 200,000 elements") {
        // Each enum compares the whole array.
        list(3000, #"{"anyOf":["#, "]}") { #"{"enum":[\#($0)]}"# }
    } options: {
        zeros(200_000)
    },
    attack("5,000 properties × 300,000 objects") {
        list(5000, #"{"items":{"type":"object","properties":{"#, "}}}") { "\"\(name($0))\":{}" }
    } options: {
        list(300_000, "[", ",0]") { _ in "{}" }
    },
    attack("2,500 maxLength × 1 MB") {
        list(2500, #"{"allOf":["#, #",{"type":"null"}]}"#) { _ in #"{"maxLength":2000000}"# }
    } options: {
        "\"" + String(repeating: "é", count: 500_000) + "\""
    },
    attack("batch of 21,000 rpc.discover") {
        list(21_000, "[", "]") { _ in #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"# }
    },
    attack("batch of 20,000 bridge.describe") {
        list(20_000, "[", "]") { _ in #"{"jsonrpc":"2.0","method":"bridge.describe","id":1}"# }
    },
    attack("array of 20,000 bridge.tasks", answers: 20_000) {
        list(20_000, "[", "]") { _ in #"{"task":"bridge.tasks","callbackId":1}"# }
    },
    attack("register one name 200 times, 5,000 properties") {
        let names = list(200, "[", "]") { _ in "\"same\"" }
        let schema = list(5000, #"{"properties":{"#, "}}") { "\"\(name($0))\":{}" }
        return callLine("bridge.register", #"{"tasks":\#(names),"descriptions":{"same":{"options":\#(schema)}}}"#)
    },
    attack("publish with 149,000 escaped names") {
        callLine("bridge.publish", list(149_000, "{", "}") { _ in #""\n":1"# })
    },
    attack("URL with 170,000 names") {
        // Five bytes each, with the separator.
        let names = (0..<170_000).map { name($0 + 46_656) }.joined(separator: "&")
        return #"{"url":"jxaction://Echo?\#(names)","callbackId":1}"#
    },
    attack("URL with 1,024 names of one length") {
        // 64 KiB, with the separators.
        let prefix = String(repeating: "x", count: 60)
        let names = (0..<1024).map { prefix + name($0 + 1_296) }.joined(separator: "&")
        return #"{"url":"jxaction://Echo?\#(names)","callbackId":1}"#
    },
    attack("closeWeb with 400,000 elements") {
        callLine("closeWeb", #"{"session":999999999,"info":\#(zeros(400_000))}"#)
    },
    attack("bridge.cancel with 400,000 elements") { callLine("bridge.cancel", #"{"callbackId":\#(zeros(400_000))}"#) },
    attack("login with 400,000 elements") { callLine("login", #"{"user":\#(zeros(400_000))}"#) },
    Attack(name: "key of 20,000 dashes, a monitor records") { field in
        try field.ask(
            try field.connect(asOperator: true), callLine("bridge.monitor", #"{"payloadBytes":262144}"#))
        let key = String(repeating: "-", count: 20_000)
        return .message(callLine("Echo", #"{"\#(key)":1}"#), on: try field.connect(), of: field)
    },
]
