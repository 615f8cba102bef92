import BridgeJSON
import CTaskPlugin
import PluginInterface
import TaskRuntime

// Converts a plugin's call about a stream from the form of the interface to that of the runtime.
extension PluginStreamCall {
    init(_ use: PluginStreamUse, _ answers: StreamAnswers) {
        let answer = use.answer
        self.init(
            parent: use.call == 0 ? nil : CallHandle(rawValue: use.call), stream: use.name,
            side: StreamSide(number: use.side),
            deadline: use.timeoutNanoseconds.map { .after(.nanoseconds($0)) } ?? .none, Work(use.work)
        ) { answers.give($0, to: answer) }
    }
}

extension PluginStreamCall.Work {
    fileprivate init(_ work: PluginStreamUse.Work) {
        self =
            switch work {
            case .make(let isReader, let type, let totalBytes, let attaches):
                .make(isReader ? .reader : .writer, type: type, totalBytes: totalBytes, attaches: attaches)
            case .write(let bytes, let isEnd): .write(bytes, isEnd: isEnd)
            case .read(let maximumBytes): .read(maximumBytes: maximumBytes)
            case .attach: .attach
            case .close(let bytes, let error): .close(bytes: bytes, error)
            }
    }
}

extension StreamSide {
    /// The side that a plugin specifies; `nil` if it specifies none.
    fileprivate init?(number: Int) {
        switch number {
        case Int(TRESTLE_STREAM_WRITER): self = .writer
        case Int(TRESTLE_STREAM_READER): self = .reader
        default: return nil
        }
    }
}

extension StreamFault {
    /// The side that ended the stream, as a number of the interface.
    var number: Int {
        switch side {
        case .writer: Int(TRESTLE_STREAM_WRITER)
        case .reader: Int(TRESTLE_STREAM_READER)
        case nil: Int(TRESTLE_STREAM_DAEMON)
        }
    }
}
