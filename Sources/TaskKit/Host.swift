internal import CTaskPlugin
internal import Glibc

/// A Swift interface to the daemon's table.
///
/// `@unchecked`: the table is constant and valid until the process ends. Functions without "loop thread" in their
/// comment may be called from any thread.
struct Host: @unchecked Sendable {  // constant; see above
    private let table: UnsafePointer<trestle_host>

    init(_ table: UnsafePointer<trestle_host>) {
        self.table = table
    }

    var isLoopThread: Bool { table.pointee.is_loop_thread(table) }

    func reply(_ call: trestle_call, _ result: UnsafeRawBufferPointer) {
        table.pointee.reply(table, call, trestle_bytes(result))
    }

    func fail(_ call: trestle_call, _ error: BridgeError) {
        error.withForeign { table.pointee.fail(table, call, $0) }
    }

    func progress(_ call: trestle_call, _ value: UnsafeRawBufferPointer) {
        table.pointee.report_progress(table, call, trestle_bytes(value))
    }

    func log(_ level: UInt32, _ message: String, _ call: trestle_call) {
        var message = message
        message.withUTF8 { table.pointee.log(table, level, trestle_bytes(UnsafeRawBufferPointer($0)), call) }
    }

    /// Runs `run(argument)` on the loop thread, soon.
    func post(_ run: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer) {
        table.pointee.post(table, run, argument)
    }

    /// Runs `body` on the loop thread, soon.
    func post(_ body: @escaping @Sendable () -> Void) {
        post({ Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body() }, Box(body).retained)  // `!`: our own box
    }

    /// Runs `body` on the loop thread: immediately if this is the loop thread, otherwise soon.
    func onLoopThread(_ body: @escaping @Sendable () -> Void) {
        if isLoopThread { body() } else { post(body) }
    }

    /// Runs `work(argument)` on a thread that may block, then `done(argument)` on the loop thread.
    func blocking(
        _ work: @convention(c) (UnsafeMutableRawPointer?) -> Void,
        done: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer
    ) {
        table.pointee.blocking(table, work, done, argument)
    }

    /// Calls a task of the bridge. Loop thread.
    func call(_ call: inout trestle_outgoing_call) -> trestle_call {
        table.pointee.call(table, &call)
    }

    /// Ends a call that was made with `call`. Loop thread.
    func cancel(_ call: trestle_call) {
        table.pointee.cancel(table, call)
    }

    /// Sends an event. Any thread.
    ///
    /// - Parameter flags: `TRESTLE_EVENT_…`
    func publish(_ name: String, _ data: [UInt8], to sessions: [SessionID]? = nil, flags: UInt32) {
        var name = name
        name.withUTF8 { name in
            data.withUnsafeBytes { data in
                (sessions ?? []).map(\.rawValue).withUnsafeBufferPointer { ids in
                    // An empty array may have no address, and a missing address means all sessions.
                    withUnsafePointer(to: UInt64(0)) { nobody in
                        var event = trestle_event()
                        event.size = UInt32(MemoryLayout<trestle_event>.size)
                        event.abi = TRESTLE_ABI
                        event.name = trestle_bytes(UnsafeRawBufferPointer(name))
                        event.data = trestle_bytes(data)
                        event.sessions = sessions == nil ? nil : ids.baseAddress ?? nobody
                        event.session_count = ids.count
                        event.flags = flags
                        table.pointee.publish(table, &event)
                    }
                }
            }
        }
    }

    /// Returns the marks of the plugin's task of this number; `nil` if the daemon is older than this function.
    func taskMarks(_ number: Int) -> UInt32? {
        // `!`: a stored member of the table always has an offset.
        guard Int(table.pointee.size) > MemoryLayout<trestle_host>.offset(of: \.task_marks)! else { return nil }
        return table.pointee.task_marks(table, UInt32(number))
    }

    // MARK: Descriptors and timers

    /// Calls `ready(argument, events)` once. Loop thread.
    ///
    /// - Returns: The watch's number, or a negated errno.
    func watch(
        _ descriptor: Int32, _ events: UInt32,
        _ ready: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void, _ argument: UnsafeMutableRawPointer
    ) -> Int64 {
        table.pointee.watch(table, descriptor, events, ready, argument)
    }

    /// Calls `fire(argument)` once after the delay. Loop thread.
    ///
    /// - Returns: The timer's number, or a negated errno.
    func timer(
        _ delay: Duration, _ fire: @convention(c) (UnsafeMutableRawPointer?) -> Void,
        _ argument: UnsafeMutableRawPointer
    ) -> Int64 {
        let nanoseconds = Int64(clamping: Int128(delay / .nanoseconds(1)))
        return table.pointee.timer(table, nanoseconds, fire, argument)
    }

    /// Ends a watch or a timer. Loop thread.
    func unwatch(_ watch: Int64) { table.pointee.unwatch(table, watch) }

    // MARK: Streams. Loop thread

    /// Whether the daemon has the functions below. Older daemons do not have them.
    var hasStreams: Bool {
        // `!`: a stored member of the table always has an offset.
        Int(table.pointee.size) > MemoryLayout<trestle_host>.offset(of: \.stream_attach)!
    }

    func makeStream(_ use: inout trestle_stream_use, _ type: trestle_bytes, _ totalBytes: UInt64) -> trestle_call {
        table.pointee.stream_new(table, &use, UInt32(TRESTLE_STREAM_WRITER), type, totalBytes)
    }
    func writeStream(_ use: inout trestle_stream_use, _ bytes: trestle_bytes) -> trestle_call {
        table.pointee.stream_write(table, &use, bytes, 0)
    }
    func readStream(_ use: inout trestle_stream_use) -> trestle_call { table.pointee.stream_read(table, &use, 0) }
    func attachStream(_ use: inout trestle_stream_use) -> trestle_call { table.pointee.stream_attach(table, &use) }
    func closeStream(
        _ use: inout trestle_stream_use, _ bytes: UInt64, _ error: UnsafePointer<trestle_error>?
    ) -> trestle_call {
        table.pointee.stream_close(table, &use, bytes, error)
    }

    // MARK: Metrics

    /// Declares a metric. The handle does nothing if the daemon refuses the metric.
    func metric(_ name: String, _ help: String, _ unit: MetricUnit?, kind: Int) -> MetricHandle {
        var (name, help, unit) = (name, help, unit?.rawValue ?? "")
        let number = name.withUTF8 { name in
            help.withUTF8 { help in
                unit.withUTF8 { unit in
                    var metric = trestle_metric()
                    metric.size = UInt32(MemoryLayout<trestle_metric>.size)
                    metric.abi = TRESTLE_ABI
                    metric.name = trestle_bytes(UnsafeRawBufferPointer(name))
                    metric.unit = trestle_bytes(UnsafeRawBufferPointer(unit))
                    metric.help = trestle_bytes(UnsafeRawBufferPointer(help))
                    metric.kind = UInt32(kind)
                    return table.pointee.metric(table, &metric)
                }
            }
        }
        return MetricHandle(host: self, number: number)
    }

    /// Sets a metric by the number that the daemon returned.
    func setMetric(_ number: UInt32, _ value: Double) { table.pointee.metric_set(table, number, value) }
    func addToMetric(_ number: UInt32, _ amount: Double) { table.pointee.metric_add(table, number, amount) }
}

/// A closure that is passed as a C pointer.
private final class Box: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// A pointer with a retained reference, which its receiver must release once.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }
}

extension trestle_bytes {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
    }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size) }
}

extension BridgeError {
    /// Calls `body` with the error in the form of the C interface.
    func withForeign<R>(_ body: (UnsafePointer<trestle_error>) -> R) -> R {
        var code = code.rawValue
        var message = message
        let data = data?.bytes ?? []
        return code.withUTF8 { code in
            message.withUTF8 { message in
                data.withUnsafeBytes { data in
                    var form = trestle_error()
                    form.size = UInt32(MemoryLayout<trestle_error>.size)
                    form.abi = TRESTLE_ABI
                    form.code = trestle_bytes(UnsafeRawBufferPointer(code))
                    form.message = trestle_bytes(UnsafeRawBufferPointer(message))
                    form.data = trestle_bytes(data)
                    form.retry_after_ns = retryAfter.map { max(0, $0.clampedNanoseconds) } ?? -1
                    if isTransient { form.flags |= TRESTLE_ERROR_TRANSIENT }
                    if isUnforeseen { form.flags |= TRESTLE_ERROR_UNFORESEEN }
                    return body(&form)
                }
            }
        }
    }

    /// Creates the error that the daemon describes.
    init(_ error: UnsafePointer<trestle_error>) {
        self.init(
            ErrorCode(rawValue: String(decoding: error.pointee.code.buffer, as: UTF8.self)),
            String(decoding: error.pointee.message.buffer, as: UTF8.self),
            data: error.pointee.data.size == 0 ? nil : try? JSON(parsing: error.pointee.data.buffer),
            isTransient: error.pointee.flags & TRESTLE_ERROR_TRANSIENT != 0,
            retryAfter: error.pointee.retry_after_ns < 0 ? nil : .nanoseconds(error.pointee.retry_after_ns))
    }
}
