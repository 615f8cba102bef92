import BridgeJSON
import BridgeMessage
import CTaskPlugin
import PluginInterface
import TaskRuntime

// The messages of a plugin's process that need no answer: log lines, events, metrics. The size of each is checked
// before it is decoded.
extension PluginProcessOwnCalls {
    private struct Line: Decodable {
        var level: String
        var message: String
        var call: UInt64?
    }

    /// Writes a log line.
    func writeLog(_ call: CallMessage) {
        guard let line = read(Line.self, call) else { return }
        host.writeLog(HostLog.level(named: line.level), line.message, of: line.call.flatMap(link.call(ofID:)))
    }

    /// Publishes an event, whose data stay text. Of repeated members only the last one is decoded, so that the work
    /// does not grow with their number.
    func publish(_ call: CallMessage) {
        var (event, receivers): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?)
        var data = literal("null")
        var (isDirect, isRetained, isForgotten, isReadable) = (false, false, false, true)
        let fault = check.cut(call.options) { key, value in
            if key.elementsEqual("data".utf8) {
                data = value
            } else if value.count > PluginProtocol.newsBytes {
                isReadable = false
            } else if key.elementsEqual("event".utf8) {
                event = value
            } else if key.elementsEqual("direct".utf8) {
                isDirect = value.elementsEqual("true".utf8)
            } else if key.elementsEqual("retain".utf8) {
                isRetained = value.elementsEqual("true".utf8)
            } else if key.elementsEqual("forget".utf8) {
                isForgotten = value.elementsEqual("true".utf8)
            } else if key.elementsEqual("sessions".utf8) {
                receivers = value.elementsEqual("null".utf8) ? nil : value
            }
        }
        let name = isReadable ? event.flatMap { try? JSON(parsing: $0) }?.stringValue : nil
        let sessions = isReadable ? receivers.flatMap { try? JSONCoding.decode([UInt64].self, from: $0) } : nil
        guard let name, fault == nil, receivers == nil || sessions != nil else {
            return warn(
                "its call of plugin.publish cannot be read: \(fault ?? "its event or its sessions are invalid")")
        }
        let outgoing = OutgoingEvent(
            name, data: data, to: sessions, isDirect: isDirect, isRetained: isRetained, isForgotten: isForgotten)
        let refusal = host.instance?.publish(outgoing, isChecked: true)
        if let refusal = refusal ?? nil { warn(refusal) }
    }

    private struct MetricsNews: Decodable {
        struct Metric: Decodable {
            var name: String
            var kind: String
            var unit: String?
            var help: String?
            var value: Double

            var declaration: MetricDeclaration {
                MetricDeclaration(
                    name: name, kind: kind == "counter" ? .counter : .gauge, unit: unit, help: help ?? name)
            }
        }
        var metrics: [Metric]?
        /// The longest turn of the process's loop within the last five to ten seconds.
        var lagMs: Double?
    }

    /// The maximum accepted lag, a day, as a process may send any number.
    private static let maximumLagMilliseconds = 86_400_000.0

    /// Stores metrics for operators.
    func setMetrics(_ call: CallMessage) {
        guard let news = read(MetricsNews.self, call) else { return }
        if let lag = news.lagMs { link.lag = .milliseconds(max(0, min(lag, Self.maximumLagMilliseconds))) }
        guard let sent = news.metrics, let all = host.instance?.metrics else { return }
        for metric in sent.prefix(MetricDeclarations.capacity) {
            do throws(MetricRefusal) {
                try host.metrics.take(metric.declaration, metric.value, from: link, into: all)
            } catch {
                warn("a metric is not published: \(error)")
            }
        }
        guard sent.count > MetricDeclarations.capacity else { return }
        warn(
            "it sends \(sent.count) metrics together: those after the first \(MetricDeclarations.capacity) are left "
                + "out"
        )
    }

    /// Decodes the options of a call; on failure logs the reason and returns `nil`.
    private func read<T: Decodable>(_: T.Type, _ call: CallMessage) -> T? {
        let task = String(decoding: call.task, as: UTF8.self)
        guard call.options.count <= PluginProtocol.newsBytes else {
            warn(
                "its call of \(task) has \(call.options.count) bytes, more than the \(PluginProtocol.newsBytes) allowed"
            )
            return nil
        }
        do {
            return try JSONCoding.decode(T.self, from: JSON(parsing: call.options))
        } catch {
            warn("its call of \(task) cannot be read: \(error)")
            return nil
        }
    }

    private func warn(_ text: @autoclosure () -> String) { host.writeLog(UInt32(TRESTLE_LOG_WARNING), text(), of: nil) }
}
