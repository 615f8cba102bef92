import BridgeJSON
import Glibc
import TestSupport

// Streams, written and read in parts.
extension Wire {
    /// Writes a whole stream and closes it.
    ///
    /// - Returns: The last callback.
    func write(_ bytes: [UInt8], to stream: JSON) throws -> JSON {
        for start in stride(from: 0, to: bytes.count, by: 48_000) {
            var text: [UInt8] = []
            bytes[start...].prefix(48_000).withUnsafeBytes { Base64Coding.encode($0, to: &text) }
            let base64 = JSON.string(String(decoding: text, as: UTF8.self))
            let answer = try call("bridge.stream.write", ["stream": stream, "base64": base64])
            if answer["error"] != nil { return answer }
        }
        return try call("bridge.stream.close", ["stream": stream, "bytes": .number(JSONNumber(bytes.count))])
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: The bytes and the last callback.
    func read(_ stream: JSON) throws -> (bytes: [UInt8], end: JSON) {
        var bytes: [UInt8] = []
        while true {
            let answer = try call("bridge.stream.read", ["stream": stream])
            guard let text = answer["result"]?["base64"]?.stringValue else { return (bytes, answer) }
            bytes += Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) } ?? []
        }
    }

    /// Makes a stream end a pipe. All earlier messages must have been received.
    ///
    /// - Returns: The descriptor, which the caller closes.
    func attach(_ stream: JSON, _ side: JSON) throws -> Int32 {
        let options: JSON = ["stream": stream, "side": side]
        try send(["task": "bridge.stream.attach", "options": options, "callbackId": "attach"])
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, Deadline().millisecondsLeft) == 1, let received = receiveWithDescriptors(descriptor),
            let end = received.descriptors.first
        else { throw TestFailure("no descriptor came") }
        return end
    }
}
