import BridgeMessage

/// The actions of a populated daemon's clients, one after the other. It is parsed from the fuzzer's bytes, which are
/// few for long messages, because parts are repeated.
///
/// Records, as in the target "runtime". The first byte selects the client. `0`, `1` and `2`: the client sends the rest
/// of the record as a line. `@`, `A` and `B`: the same clients disconnect and connect again. In a line
/// `⟨1F⟩COUNT;TEXT⟨1F⟩` represents COUNT copies of the text, separated by commas if COUNT begins with a 0. A `⟨1C⟩` in
/// the text represents the copy's number, in base 36 and four digits long.
struct CostSequence: Sendable {
    /// An action of a client.
    enum Step: Sendable {
        case line(client: Int, [UInt8])
        case comeBack(client: Int)
    }

    static let clients = 3
    private static let repeatMark: UInt8 = 0x1F
    private static let numberMark: UInt8 = 0x1C
    /// A line may be somewhat longer than the daemon accepts. The total is limited, for the fuzzer's time.
    private static let maximumLineBytes = (1 << 20) + 4096
    private static let maximumBytes = 3 << 20
    private static let maximumSteps = 64

    private(set) var steps: [Step] = []
    /// The number of bytes that are sent, line ends included.
    private(set) var byteCount = 0
    /// The number of messages: lines, elements of arrays, and connections that begin or end.
    private(set) var messageCount = 2 * clients
    /// The number of event names that are subscribed to or removed, up to the maximum of a session.
    private(set) var patternCount = 0
    /// The same number for tasks.
    private(set) var taskCount = 0

    init(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        while !input.isEmpty, steps.count < Self.maximumSteps, byteCount < Self.maximumBytes {
            let record = input.record()
            guard let first = record.first else { continue }
            let client = Int(first & 3) % Self.clients
            if first & 0x40 != 0 {
                steps.append(.comeBack(client: client))
                messageCount += 2
            } else {
                add(Self.expanded(record.dropFirst()), by: client)
            }
        }
    }

    private mutating func add(_ line: [UInt8], by client: Int) {
        let line = line.filter { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")]
        steps.append(.line(client: client, line))
        byteCount += line.count
        let messages = Self.messages(in: line)
        messageCount += messages
        let names = min(line.count { $0 == UInt8(ascii: "\"") } / 2, Self.maximumNames * messages)
        if line.contains("register\"".utf8) {
            taskCount += names
        } else if line.contains("subscribe\"".utf8) {
            patternCount += names
        }
    }

    /// The maximum number of subscribed names, and of tasks, of a session.
    private static let maximumNames = 256

    /// Expands the repetitions. An incomplete repetition is copied unchanged.
    private static func expanded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for (index, part) in text.split(separator: repeatMark, omittingEmptySubsequences: false).enumerated() {
            let digits = part.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard index % 2 == 1, !digits.isEmpty, part.dropFirst(digits.count).first == UInt8(ascii: ";") else {
                result += part
                continue
            }
            let count = digits.prefix(7).reduce(0) { $0 * 10 + Int($1 & 15) }
            let unit = part.dropFirst(digits.count + 1)
            for number in 0..<count where result.count + unit.count < maximumLineBytes {
                if number > 0, digits.first == UInt8(ascii: "0") { result.append(UInt8(ascii: ",")) }
                append(unit, number, to: &result)
            }
        }
        return Array(result.prefix(maximumLineBytes))
    }

    private static func append(_ unit: ArraySlice<UInt8>, _ number: Int, to result: inout [UInt8]) {
        for byte in unit {
            guard byte == numberMark else {
                result.append(byte)
                continue
            }
            // Four digits, so that all have the same length.
            result += String(number + 46_656, radix: 36).utf8
        }
    }

    /// Returns the number of messages in a line, as the daemon parses it.
    private static func messages(in line: [UInt8]) -> Int {
        var splitter = MessageSplitter(maximumLineBytes: 1 << 20)
        let decoder = MessageDecoder(urlSchemes: ["jxaction"])
        var count = 0
        withPadding(line) { bytes in
            var taken = 0
            while let line = splitter.nextLine(of: bytes, from: &taken) {
                _ = decoder.decode(line) { _ in
                    count += 1
                    return true
                }
            }
        }
        return max(1, count)
    }
}
