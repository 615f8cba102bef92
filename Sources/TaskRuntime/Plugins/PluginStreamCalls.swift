public import BridgeJSON
import BridgeMessage

/// What a plugin in the daemon's process asks for about a stream: what the daemon's tasks do, with bytes instead of
/// JSON.
public struct PluginStreamCall {
    /// What is to be done.
    public enum Work {
        /// Makes a stream, of which the plugin holds this end. `attaches`: it is to be a pipe, where it can.
        case make(StreamSide, type: String?, totalBytes: UInt64?, attaches: Bool)
        /// Writes bytes, borrowed until the call has been made.
        case write(UnsafeRawBufferPointer, isEnd: Bool)
        /// Reads so many bytes at most; nil: as many as is usual.
        case read(maximumBytes: Int?)
        /// Has the plugin's end be a pipe, which it gets.
        case attach
        /// Closes the plugin's end.
        case close(bytes: UInt64?, BridgeError?)
    }

    /// The call on whose behalf it is made; nil: in the plugin's own name.
    public var parent: CallHandle?
    /// The stream's name; of no meaning where one is made.
    public var stream: String
    /// The end that is meant, to attach and to close; nil: the one that the plugin has, the writer's where it has both.
    public var side: StreamSide?
    /// How long it may take.
    public var deadline: TaskDeadline
    /// What is to be done.
    public var work: Work
    /// Called at the end, once.
    public var completion: (Result<StreamResult, BridgeError>) -> Void

    /// A call.
    ///
    /// - Parameters:
    ///   - parent: the call on whose behalf it is made; nil: in the plugin's own name.
    ///   - stream: the stream's name; of no meaning where one is made.
    ///   - side: the end that is meant, to attach and to close; nil: the one that the plugin has, the writer's where
    ///     it has both.
    ///   - deadline: how long it may take.
    ///   - work: what is to be done.
    ///   - completion: called at the end, once.
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
    /// The daemon's task that does the same: the call counts as one of it.
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
    /// Makes a call about a stream, for a plugin. `completion` is called at its end, before this returns where it ends
    /// immediately.
    ///
    /// - Returns: the call's handle, for ``TaskRuntime/cancelPluginCall(_:)``.
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
            // `!`: set before a call with a reply ends without an error.
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
    /// Does what a plugin asks for; the call is answered now or later.
    ///
    /// - Parameter mayAttach: Whether the stream that it makes may have a pipe with it.
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
