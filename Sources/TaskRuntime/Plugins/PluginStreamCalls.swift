public import BridgeJSON
import BridgeMessage

/// A plugin's call about a stream, for plugins in the daemon's process: the same as the daemon's tasks, with bytes
/// instead of JSON.
public struct PluginStreamCall {
    /// The operation.
    public enum Work {
        /// Creates a stream of which the plugin holds this end. `attaches`: the end becomes a pipe if that is possible.
        case make(StreamSide, type: String?, totalBytes: UInt64?, attaches: Bool)
        /// Writes bytes, borrowed until the call has been made.
        case write(UnsafeRawBufferPointer, isEnd: Bool)
        /// Reads at most this many bytes; `nil` for the usual number.
        case read(maximumBytes: Int?)
        /// Makes the plugin's end a pipe, which the plugin receives.
        case attach
        /// Closes the plugin's end.
        case close(bytes: UInt64?, BridgeError?)
    }

    /// The call on whose behalf it is made; `nil` if the plugin calls in its own name.
    public var parent: CallHandle?
    /// The stream's name; ignored when a stream is created.
    public var stream: String
    /// The end to attach or close; `nil` for the end that the plugin has, or the writer's if it has both.
    public var side: StreamSide?
    /// The time limit.
    public var deadline: TaskDeadline
    /// The operation.
    public var work: Work
    /// Called once, at the end.
    public var completion: (Result<StreamResult, BridgeError>) -> Void

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - parent: The call on whose behalf it is made; `nil` if the plugin calls in its own name.
    ///   - stream: The stream's name; ignored when a stream is created.
    ///   - side: The end to attach or close; `nil` for the end that the plugin has, or the writer's if it has both.
    ///   - deadline: The time limit.
    ///   - work: The operation.
    ///   - completion: Called once, at the end.
    public init(
        parent: CallHandle?, stream: String, side: StreamSide?, deadline: TaskDeadline, _ work: Work,
        completion: @escaping (Result<StreamResult, BridgeError>) -> Void
    ) {
        self.parent = parent
        self.stream = stream
        self.side = side
        self.deadline = deadline
        self.work = work
        self.completion = completion
    }
}

extension PluginStreamCall.Work {
    /// The daemon's task with the same effect: the call is counted under it.
    fileprivate var task: StaticString {
        switch self {
        case .make: "bridge.stream.new"
        case .write: "bridge.stream.write"
        case .read: "bridge.stream.read"
        case .attach: "bridge.stream.attach"
        case .close: "bridge.stream.close"
        }
    }
}

extension PluginDirectory {
    /// Makes a call about a stream for a plugin. `completion` is called at its end, before this returns if the call
    /// ends immediately.
    ///
    /// - Returns: The call's handle, for ``TaskRuntime/cancelPluginCall(_:)``.
    func call(_ request: PluginStreamCall, by plugin: PluginInstance) -> CallHandle {
        calls.turns.note(.plugin, plugin.number)
        let name = request.work.task
        let nameBytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        let task: TaskEntry
        let parent: Call?
        do throws(BridgeError) {
            parent = try livingParent(request.parent)
            task = try admit(nameBytes, for: parent, by: plugin)
        } catch {
            calls.noteRefusal(of: nameBytes, error, nil)
            request.completion(.failure(error))
            return CallHandle(rawValue: 0)
        }
        let call = begin(task, for: parent, request.deadline, wantsProgress: false, by: plugin)
        let reply = StreamReply()
        call.extras.streamReply = reply
        call.extras.completion = { [completion = request.completion] outcome in
            switch outcome {
            case .failure(let error): completion(.failure(error))
            // `!`: the result is set before a call with a reply ends without an error.
            case .result: completion(.success(reply.result!))
            }
        }
        let handle = call.handle
        calls.noteBegin(of: call, task, options: UnsafeRawBufferPointer(start: nil, count: 0))
        call.state = .running
        do throws(BridgeError) {
            try streams.perform(request, call, mayAttach: rights.mayAttach(call, tasks))
        } catch {
            calls.end(call, .failure(error))
        }
        calls.settle(call, handle, 0)
        return handle
    }
}

extension StreamTable {
    /// Performs a plugin's call; it is answered now or later.
    ///
    /// - Parameter mayAttach: Whether the stream that it creates may have a pipe.
    fileprivate func perform(
        _ request: PluginStreamCall, _ call: Call, mayAttach: @autoclosure () -> Bool
    ) throws(BridgeError) {
        let (stream, chosen) = (request.stream, request.side)
        switch request.work {
        case .make(let side, let type, let totalBytes, let attaches):
            let announcement = OpenStream.Announcement(type: type, totalBytes: totalBytes)
            answer(call, try make(call, side, for: nil, announcement, attaches: attaches && mayAttach()))
        case .write(let bytes, let isEnd): try write(call, to: stream, for: nil, bytes, isEnd: isEnd)
        case .read(let maximumBytes): try read(call, from: stream, for: nil, maximumBytes: maximumBytes)
        case .attach: answer(call, try attach(call, to: stream, chosen, for: nil))
        case .close(let bytes, let error): try close(call, stream, chosen, for: nil, bytes: bytes, error)
        }
    }
}
