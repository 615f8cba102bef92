import BridgeMessage
import TaskRuntime

/// One step of the processing of a call, or all steps, as a function that repeats it the given number of times.
struct Operation {
    var name: String
    var run: (Int) -> Void

    static var all: [Operation] { [decode, route, encode, call] }

    /// Parses a line into a message: grammar, envelope, fields.
    private static var decode: Operation {
        let input = Input()
        let decoder = MessageDecoder()
        return Operation(name: "decode") { count in
            for _ in 0..<count {
                _ = decoder.decode(.line(input.firstLine)) { item in
                    guard case .call = item else { fatalError("the benchmark's own line is no call") }
                    return true
                }
            }
        }
    }

    /// Turns a message into a callback: task, policy, limits, call table, host, answer, statistics, and the writing of
    /// the callback, which cannot be separated.
    private static var route: Operation {
        let input = Input()
        let decoder = MessageDecoder()
        let desk = Desk()
        return Operation(name: "route") { count in
            let (runtime, session) = (desk.runtime, desk.session)
            _ = decoder.decode(.line(input.firstLine)) { item in
                for _ in 0..<(count / Input.lineCount) {
                    runtime.beginInput()
                    for _ in 0..<Input.lineCount { runtime.receive(item, from: session) }
                    runtime.endInput()
                    runtime.writeOutput()
                }
                return true
            }
        }
    }

    /// Turns a result into a line.
    private static var encode: Operation {
        let output = OutputBuffer()
        let id = Array("1000000".utf8)
        let input = Input()
        // Of the length of Echo's results.
        let result = UnsafeRawBufferPointer(rebasing: input.firstLine[25..<(input.firstLine.count - 22)])
        return Operation(name: "encode") { count in
            id.withUnsafeBytes { id in
                for _ in 0..<(count / Input.lineCount) {
                    for _ in 0..<Input.lineCount {
                        MessageEncoder.callback(id: id, result: result, isOneLine: true, to: output)
                    }
                    output.removeFirst(output.count)
                }
            }
        }
    }

    /// All steps, from the received bytes to the bytes to send.
    private static var call: Operation {
        let input = Input()
        let decoder = MessageDecoder()
        let desk = Desk()
        return Operation(name: "call") { count in
            let (runtime, session) = (desk.runtime, desk.session)
            var splitter = MessageSplitter(maximumLineBytes: 1 << 20)
            for _ in 0..<(count / Input.lineCount) {
                runtime.beginInput()
                var taken = 0
                while let line = splitter.nextLine(of: input.bytes, from: &taken) {
                    if let item = decoder.item(of: line) { runtime.receive(item, from: session) }
                }
                runtime.endInput()
                precondition(taken == input.bytes.count)
                runtime.writeOutput()
            }
        }
    }
}
