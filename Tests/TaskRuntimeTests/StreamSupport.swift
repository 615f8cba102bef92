import BridgeJSON
import BridgeMessage

@testable import TaskRuntime

/// A client that uses streams. Each call has the next number as its id.
final class StreamClient {
    let client: FakeClient
    private var lastID = 0

    init(_ bench: Bench, uid: UInt32 = 0) { client = bench.client(uid: uid) }

    /// Makes a call that may wait.
    ///
    /// - Returns: The id of the call.
    @discardableResult
    func begin(_ task: String, _ options: JSON) -> Int {
        lastID += 1
        client.send(#"{"task":"bridge.stream.\#(task)","options":\#(options.text),"callbackId":\#(lastID)}"#)
        return lastID
    }

    /// Makes a call that is answered at once. Returns the result, or the whole message without a result.
    func call(_ task: String, _ options: JSON) -> JSON {
        let id = begin(task, options)
        let messages = client.read()
        guard messages.count == 1, messages[0]["callbackId"]?.int64Value == Int64(id) else {
            return .array(messages)
        }
        return messages[0]["result"] ?? messages[0]
    }

    /// Makes a stream. Returns its name; empty if it was refused.
    func make(_ options: JSON = [:]) -> String { call("new", options)["stream"]?.stringValue ?? "" }

    /// Attaches a pipe to an end of a stream.
    func attach(_ stream: JSON, _ side: JSON) -> JSON { call("attach", ["stream": stream, "side": side]) }

    /// Returns the answers since the last time, by the ids of their calls.
    func answers() -> [Int: JSON] {
        var answers: [Int: JSON] = [:]
        for message in client.read() {
            guard let id = message["callbackId"]?.int64Value else { continue }
            answers[Int(id)] = message["result"] ?? message
        }
        return answers
    }
}

/// A plugin that makes calls in a test.
final class StreamPlugin {
    private let bench: Bench
    private let instance: PluginInstance
    private let holder: StreamHolder?
    /// Receives the plugin's descriptors; `nil` if the plugin cannot receive any.
    var receiver: FakeReceiver?

    /// - Parameter holder: A process of the plugin; `nil` if the plugin runs in the daemon's process.
    init(_ bench: Bench, _ instance: PluginInstance, holder: StreamHolder? = nil) {
        self.bench = bench
        self.instance = instance
        self.holder = holder
    }

    /// Makes a call.
    ///
    /// - Returns: The object that will contain the answer.
    @discardableResult
    func begin(_ task: String, _ options: JSON, for parent: CallHandle? = nil) -> Answer {
        let answer = Answer()
        let name = Array(task.utf8)
        let text = options.bytes + Array(repeating: 0, count: MessageSplitter.paddingBytes)
        name.withUnsafeBytes { name in
            text.withUnsafeBytes { text in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: parent, task: name,
                        options: UnsafeRawBufferPointer(rebasing: text.dropLast(MessageSplitter.paddingBytes)),
                        session: nil, deadline: .standard, onProgress: nil, holder: holder,
                        descriptorReceiver: receiver, completion: { answer.take($0) }),
                    by: instance)
            }
        }
        return answer
    }

    /// Makes a call about a stream that is answered at once. Returns the answer.
    func call(_ task: String, _ options: JSON, for parent: CallHandle? = nil) -> JSON {
        begin("bridge.stream.\(task)", options, for: parent).value ?? "no answer"
    }

    final class Answer {
        private(set) var value: JSON?

        fileprivate func take(_ outcome: CallOutcome) {
            switch outcome {
            case .result(let result): value = try? JSON(parsing: result)
            case .failure(let error): value = ["error": error.json]
            }
        }
    }
}
