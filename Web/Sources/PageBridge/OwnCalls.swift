internal import BridgeJSON

/// The container's own calls on a document's connection, besides the hello: at most ``maximum`` at a time. Their ids
/// contain the secret that pages cannot guess; their answers never reach the page.
struct OwnCalls: Sendable {
    /// The maximum number of calls in flight. A page asks one question at a time, and its package's network has 12.
    static let maximum = 32
    private static let idEnd = UInt8(ascii: "\"")

    private let id: String
    /// The beginning of an answer's line.
    private let beginning: [UInt8]
    private var pending: Set<Int> = []
    /// The lines that wait for the answer to the hello.
    private var waiting: [(number: Int, line: [UInt8])] = []
    private var lastNumber = 0

    init(secret: String) {
        id = "trestle-web-call:\(secret):"
        beginning = Array("{\"callbackId\":\"\(id)".utf8)
    }

    /// Begins a call and returns its line; `nil` if too many are pending.
    mutating func begin(_ task: String, _ options: JSON) -> (number: Int, line: [UInt8])? {
        guard pending.count < Self.maximum else { return nil }
        lastNumber += 1
        pending.insert(lastNumber)
        let call: JSON = ["task": .string(task), "options": options, "callbackId": .string("\(id)\(lastNumber)")]
        return (lastNumber, Array(call.text.utf8))
    }

    /// Stores a call's line until the hello is answered.
    mutating func hold(_ number: Int, _ line: [UInt8]) { waiting.append((number, line)) }

    /// Removes and returns the stored lines.
    mutating func takeHeld() -> [[UInt8]] {
        defer { waiting = [] }
        return waiting.map(\.line)
    }

    /// Cancels a call, which then has no answer. Returns the line that cancels it; `nil` if it was not sent.
    mutating func cancel(_ number: Int) -> [UInt8]? {
        guard pending.remove(number) != nil else { return nil }
        if let index = waiting.firstIndex(where: { $0.number == number }) {
            waiting.remove(at: index)
            return nil
        }
        return Array((["cancel": .string("\(id)\(number)")] as JSON).text.utf8)
    }

    /// Separates the answers to these calls from the other lines.
    mutating func takeAnswers(_ lines: [UInt8]) -> (answers: [(number: Int, result: JSON?)], rest: [UInt8]) {
        // The page's lines pass unchanged. A cancelled call is still answered.
        guard lastNumber > 0, hasBeginning(lines) else { return ([], lines) }
        var answers: [(number: Int, result: JSON?)] = []
        var rest: [UInt8] = []
        for line in lines.split(separator: 0x0A) {
            guard line.starts(with: beginning) else {
                rest += line
                rest.append(0x0A)
                continue
            }
            let digits = line.dropFirst(beginning.count).prefix { $0 != Self.idEnd }
            guard let number = Int(String(decoding: digits, as: UTF8.self)), let json = try? JSON(parsing: Array(line)),
                json["result"] != nil || json["error"] != nil, pending.remove(number) != nil
            else { continue }
            answers.append((number, json["result"]))
        }
        return (answers, rest)
    }

    /// Whether any line is an answer.
    private func hasBeginning(_ lines: [UInt8]) -> Bool {
        var rest = lines[...]
        while true {
            if rest.starts(with: beginning) { return true }
            guard let end = rest.firstIndex(of: 0x0A) else { return false }
            rest = rest[(end + 1)...]
        }
    }

    /// Ends all calls because the connection was lost. Returns their numbers.
    mutating func end() -> [Int] {
        defer {
            pending = []
            waiting = []
        }
        return pending.sorted()
    }
}
