import BridgeJSON
import TestSupport
import Testing

/// An exchange of messages in the documentation: one block and its continuations.
struct Example: CustomTestStringConvertible {
    /// One message.
    struct Step {
        /// The letter before the arrow; empty if there is only one client.
        var client: String
        var isSent: Bool
        var text: String
        var line: Int
    }

    /// The path of the page, and the line of the first block in it.
    let page: String
    let line: Int
    private(set) var steps: [Step] = []

    var testDescription: String { place(line) }

    /// The language of a block that is an example, and the word for a continuation of the previous example.
    private static let language = "bridge"
    private static let continuation = "bridge continued"

    /// Returns the examples of a page.
    static func all(in page: Page) throws -> [Example] {
        var examples: [Example] = []
        for block in page.blocks where block.info == language || block.info == continuation {
            if block.info == language { examples.append(Example(page: page.path, line: block.line)) }
            guard !examples.isEmpty else { throw TestFailure("\(page.path):\(block.line) goes on with no example") }
            try examples[examples.count - 1].append(block)
        }
        return examples
    }

    private init(page: String, line: Int) {
        self.page = page
        self.line = line
    }

    private func place(_ line: Int) -> String { "\(page):\(line)" }

    private mutating func append(_ block: Page.Block) throws {
        for (offset, text) in block.lines.enumerated() {
            if text.hasPrefix(" "), !steps.isEmpty {
                steps[steps.count - 1].text += text.drop { $0 == " " }
            } else if let match = text.wholeMatch(of: #/(?:([A-Z]) )?(→|←) (.+)/#) {
                let (_, client, arrow, message) = match.output
                steps.append(
                    Step(
                        client: String(client ?? ""), isSent: arrow == "→", text: String(message),
                        line: block.line + 1 + offset))
            } else {
                throw TestFailure("\(place(block.line + 1 + offset)) is not a message of an example: \(text)")
            }
        }
    }

    /// Sends the sent messages and compares the received ones with those shown. No other message may arrive.
    ///
    /// - Throws: ``TestFailure`` with the line and both messages.
    func run(on daemon: DaemonProcess) throws {
        var clients: [String: LineClient] = [:]
        var values: Pattern.Values = [:]
        for step in steps {
            let client = try clients[step.client] ?? daemon.connect()
            clients[step.client] = client
            if step.isSent {
                guard let text = Pattern.fill(step.text, values) else {
                    throw TestFailure("\(place(step.line)): a name stands for nothing yet")
                }
                try client.send(text)
            } else {
                let received = try client.receive() ?? "(the end of the connection)"
                guard let message = try? JSON(parsing: received),
                    try Pattern(step.text).matches(message, &values)
                else { throw TestFailure("\(place(step.line)) shows\n\(step.text)\nbut this came:\n\(received)") }
            }
        }
        for (name, client) in clients.sorted(by: { $0.key < $1.key }) {
            client.endInput()
            if let extra = try client.receive() {
                throw TestFailure("\(testDescription): client \(name) got more than is shown:\n\(extra)")
            }
        }
    }
}
