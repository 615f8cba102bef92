// The functions of the fake host's table, which the plugin calls.
import CTaskPlugin
import Dispatch
import Synchronization
import TaskKit

extension FakeHost {
    func fillTable() {
        // `!` on the table throughout: the plugin passes back the pointer that it received.
        table.pointee.reply = { table, call, result in
            let address = UInt(bitPattern: result.data)
            host(table!).say(result.text) { host, text in
                host.lastResultAddress = address
                host.answerHook.take()?(host)
                host.answers[call, default: []].append(
                    .result((try? JSON(parsing: text)) ?? .string("no JSON: " + text)))
            }
        }
        table.pointee.fail = { table, call, error in
            let error = BridgeError(described: error!.pointee)  // `!`: the header promises it
            host(table!).say(error) { host, error in host.answers[call, default: []].append(.error(error)) }
        }
        table.pointee.report_progress = { table, call, value in
            host(table!).say(value.text) { host, text in
                host.progress[call, default: []].append((try? JSON(parsing: text)) ?? .null)
            }
        }
        table.pointee.log = { table, level, message, call in
            host(table!).say(LogLine(level: level, message: message.text, call: call)) { $0.logLines.append($1) }
        }
        table.pointee.post = { table, run, argument in
            let argument = Pointer(argument)
            host(table!).loop.async { run!(argument.address) }
        }
        table.pointee.blocking = { table, work, done, argument in
            let argument = Pointer(argument)
            let host = host(table!)
            DispatchQueue.global().async {
                work!(argument.address)
                host.loop.async { done!(argument.address) }
            }
        }
        table.pointee.is_loop_thread = { _ in FakeHost.isLoopThread }
        table.pointee.call = { table, call in host(table!).begin(call!.pointee) }
        table.pointee.cancel = { table, call in
            let host = host(table!)
            host.cancelled.append(call)
            host.end(call, .error(BridgeError(.callCancelled, "the call was cancelled")))
            host.changed()
        }
        fillFigures()
        table.pointee.publish = { table, event in
            let event = event!.pointee
            let sessions = event.sessions.map { Array(UnsafeBufferPointer(start: $0, count: event.session_count)) }
            let seen = Event(
                name: event.name.text, data: (try? JSON(parsing: event.data.text)) ?? .null, sessions: sessions,
                flags: event.flags)
            host(table!).say(seen) { $0.events.append($1) }
        }
    }

    /// Fills in the functions for figures. These have their own lock: they are set from any thread and read off the
    /// loop.
    private func fillFigures() {
        table.pointee.metric = { table, metric in
            let metric = metric!.pointee
            return host(table!).figures.withLock { figures in
                figures.append(
                    Published(
                        name: metric.name.text, unit: metric.unit.text, help: metric.help.text, kind: metric.kind))
                return UInt32(figures.count)
            }
        }
        table.pointee.metric_set = { table, metric, value in
            host(table!).figures.withLock { $0[Int(metric) - 1].value = value }
        }
        table.pointee.metric_add = { table, metric, amount in
            host(table!).figures.withLock { $0[Int(metric) - 1].value += amount }
        }
    }

    /// Records output of the plugin: immediately on the loop, asynchronously from other threads.
    private func say<T: Sendable>(_ value: T, _ record: @escaping @Sendable (FakeHost, T) -> Void) {
        if Self.isLoopThread {
            record(self, value)
            changed()
        } else {
            loop.async {
                record(self, value)
                self.changed()
            }
        }
    }

    private func begin(_ call: trestle_outgoing_call) -> trestle_call {
        precondition(Self.isLoopThread, "`call` is for the loop thread")
        lastHandle += 1
        open[lastHandle] = BridgeCall(
            task: call.task.text, options: (try? JSON(parsing: call.options.text)) ?? .null, call: call)
        let handle = lastHandle
        // A task that does not exist is answered before `call` returns.
        if call.task.text == "nobody" {
            end(handle, .error(BridgeError(.taskNotFound, "There is no task nobody.")))
        }
        changed()
        return handle
    }
}

private func host(_ table: UnsafePointer<trestle_host>) -> FakeHost {
    Unmanaged<FakeHost>.fromOpaque(table.pointee.context).takeUnretainedValue()
}

/// A C pointer that is passed to another thread. `@unchecked`: the plugin is responsible for the memory.
private struct Pointer: @unchecked Sendable {
    let address: UnsafeMutableRawPointer?

    init(_ address: UnsafeMutableRawPointer?) {
        self.address = address
    }
}

func withBytes(_ text: String, _ body: (trestle_bytes) -> Void) {
    var text = text
    text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { body(trestle_bytes(data: $0.baseAddress, size: $0.count)) }
    }
}

extension trestle_bytes {
    var text: String {
        String(decoding: UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size), as: UTF8.self)
    }
}

extension BridgeError {
    init(described error: trestle_error) {
        self.init(
            ErrorCode(rawValue: error.code.text), error.message.text,
            data: error.data.size == 0 ? nil : try? JSON(parsing: error.data.text),
            isTransient: error.flags & TRESTLE_ERROR_TRANSIENT != 0,
            retryAfter: error.retry_after_ns < 0 ? nil : .nanoseconds(error.retry_after_ns))
    }
}
