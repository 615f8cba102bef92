import BridgeMessage

/// What clients of a populated daemon do, one after the other: read from the fuzzer's bytes, which are few where the
/// messages are long, because parts are repeated.
///
/// Records, as in the target "runtime". The first byte says who: `0`, `1` and `2` are clients, and the rest of the
/// record is sent as a line; `@`, `A` and `B` are the same clients, who leave and come back. In a line
/// `⟨1F⟩COUNT;TEXT⟨1F⟩` stands for so many copies of the text, with a comma between them where the count begins with a
/// 0; a `⟨1C⟩` in it for the copy's number, to the base 36 and four digits long.
struct CostSequence: Sendable {
    /// What a client does.
    enum Step: Sendable {
        case line(client: Int, [UInt8])
        case comeBack(client: Int)
    }

    static let clients = 3
    private static let repeatMark: UInt8 = 0x1F
    private static let numberMark: UInt8 = 0x1C
    /// A line may be longer than the daemon takes, but not by much; all together have a bound, for the fuzzer's time.
    private static let maximumLineBytes = (1 << 20) + 4096
    private static let maximumBytes = 3 << 20
    private static let maximumSteps = 64

    private(set) var steps: [Step] = []
    /// What is sent, line ends included.
    private(set) var byteCount = 0
    /// How many messages that is: lines, what stands in arrays, and connections that come or go.
    private(set) var messageCount = 2 * clients
    /// How many names of events they enter or take out, as far as a session may have them.
    private(set) var patternCount = 0
    /// The same of tasks.
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

    /// As many names may a session have of subscriptions, and of tasks.
    private static let maximumNames = 256

    /// Copies what is to be repeated. What is half a repetition stands for itself.
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
            // Four digits, so that all are as long.
            result += String(number + 46_656, radix: 36).utf8
        }
    }

    /// How many messages a line holds, as the daemon reads it.
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
