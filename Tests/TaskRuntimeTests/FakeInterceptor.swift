import BridgeJSON
import BridgeMessage
import TestSupport

@testable import TaskRuntime

/// A plugin with one interceptor. The test makes its decisions.
final class FakeInterceptor {
    let host = FakeHost()
    let bench: Bench
    private(set) var instance: PluginInstance! = nil  // set before init returns
    /// - Parameter decision: Decides each question at once; `nil` leaves the decisions to ``decide(_:_:)``.
    init(
        _ bench: Bench, _ name: String, _ tasks: [String], onFailure: InterceptorFailure = .refuse,
        decision: ((JSON) -> String)? = nil
    ) {
        self.bench = bench
        let described = InterceptorDescription(
            name: "\(name).all", summary: "Looks at calls.", tasks: tasks, onFailure: onFailure)
        instance = bench.add(name, tasks: [], host, interceptors: [described])
        guard let decision else { return }
        host.onStart = { [instance] started in
            let question = (try? JSON(parsing: started.options)) ?? .null
            Array(decision(question).utf8).withUnsafeBytes { instance?.reply(started.handle, $0) }
        }
    }

    /// The questions that the interceptor has received.
    var questions: [JSON] { host.started.map { (try? JSON(parsing: $0.options)) ?? .null } }

    func decide(_ index: Int, _ decision: String) {
        Array(decision.utf8).withUnsafeBytes { instance.reply(host.started[index].handle, $0) }
    }

    func fail(_ index: Int, _ error: BridgeError) { instance.fail(host.started[index].handle, error) }

    /// Calls a task on behalf of an open question, or in the plugin's own name if `question` is `nil`.
    func call(_ task: String, _ options: String = "{}", behind question: Int?) -> Outcomes {
        let outcomes = Outcomes()
        Array(task.utf8).withUnsafeBytes { name in
            (Array(options.utf8) + repeatElement(0, count: 64)).withUnsafeBytes { text in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: question.map { host.started[$0].handle }, task: name,
                        options: UnsafeRawBufferPointer(rebasing: text[..<options.utf8.count]), session: nil,
                        deadline: .standard, onProgress: nil
                    ) { outcome in
                        switch outcome {
                        case .result(let result): outcomes.all.append(String(decoding: result, as: UTF8.self))
                        case .failure(let error): outcomes.all.append(error.code.rawValue)
                        }
                    }, by: instance)
            }
        }
        return outcomes
    }

    final class Outcomes { var all: [String] = [] }

    /// The interceptor's entry in `bridge.status`; `nil` if there is none.
    var report: JSON? {
        let client = bench.client()
        client.send(#"{"task":"bridge.status","callbackId":1}"#)
        return client.readOne()?["result"]?["interceptors"]?.arrayValue?.first {
            $0["plugin"]?.stringValue == instance.name
        }
    }
}
