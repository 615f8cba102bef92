import BridgeJSON
import Glibc

/// Sends messages, prints them and their answers, and compares each answer with the expected one.
final class Demonstration {
    private let path: String
    private let colours: Bool
    private var messages = 0

    init(path: String) {
        self.path = path
        colours = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
    }

    var messageCount: Int { messages }

    func connect(_ name: String) throws -> Client {
        Client(name: name, socket: try LineSocket(path: path), demonstration: self)
    }

    func title(_ text: String) { print("\n" + painted("# \(text)", "1")) }

    fileprivate func show(_ name: String, _ arrow: String, _ text: String, _ style: String) {
        messages += 1
        print("  \(painted("\(name) \(arrow)", style)) \(text)")
    }

    private func painted(_ text: String, _ style: String) -> String {
        colours ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }
}

/// One client of the demonstration.
final class Client {
    private let name: String
    private let socket: LineSocket
    private let demonstration: Demonstration

    fileprivate init(name: String, socket: LineSocket, demonstration: Demonstration) {
        self.name = name
        self.socket = socket
        self.demonstration = demonstration
    }

    /// Sends a line unchanged.
    func send(_ line: String) throws {
        demonstration.show(name, "→", line, "36")
        try socket.send(line)
    }

    /// Waits for the next message, which must be the expected one.
    @discardableResult
    func expect(_ what: String, _ isExpected: (JSON) -> Bool) throws -> JSON {
        guard let line = try socket.receive() else {
            throw DemoFailure(description: "the connection ended where \(what) was expected")
        }
        demonstration.show(name, "←", line, "32")
        guard let message = try? JSON(parsing: line), isExpected(message) else {
            throw DemoFailure(description: "this is not what was expected: \(what)")
        }
        return message
    }

    /// Sends a call and waits for its result, which must be the expected one.
    @discardableResult
    func call(
        _ id: String, _ task: String, _ options: JSON, _ what: String, _ isExpected: (JSON) -> Bool
    ) throws -> JSON {
        try send((["task": .string(task), "options": options, "callbackId": .string(id)] as JSON).text)
        let message = try expect(what) { message in
            message["callbackId"] == .string(id) && message["result"].map(isExpected) == true
        }
        return message["result"] ?? .null
    }

    /// Waits for the end of the connection, which the daemon must have closed.
    func expectEnd() throws {
        if let line = try socket.receive() {
            throw DemoFailure(description: "the connection should have ended, this came: \(line)")
        }
        demonstration.show(name, "←", "(the connection ends)", "32")
    }
}
