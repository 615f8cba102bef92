internal import CTaskPlugin
internal import Glibc

/// The daemon's table, in Swift's terms.
///
/// `@unchecked`: the table is constant and lives until the process ends. Functions without "loop thread" in their
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

    /// Runs `body` on the loop thread: now where this is it, else soon.
    func onLoopThread(_ body: @escaping @Sendable () -> Void) {
        if isLoopThread { body() } else { post(body) }
    }

    /// Runs `work(argument)` where it may block, then `done(argument)` on the loop thread.
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
                    // An empty array may have no address, and no address means "to all".
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

    /// What stands between calls and the plugin's task of this number; nil: an older daemon does not say.
    func taskMarks(_ number: Int) -> UInt32? {
        // `!`: a member of the table, which has its place.
        guard Int(table.pointee.size) > MemoryLayout<trestle_host>.offset(of: \.task_marks)! else { return nil }
        return table.pointee.task_marks(table, UInt32(number))
    }

    // MARK: Descriptors and timers

    /// Calls `ready(argument, events)` once. Loop thread.
    ///
    /// - Returns: the watch's number, or minus an errno.
    func watch(
        _ descriptor: Int32, _ events: UInt32,
        _ ready: @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void, _ argument: UnsafeMutableRawPointer
    ) -> Int64 {
        table.pointee.watch(table, descriptor, events, ready, argument)
    }

    /// Calls `fire(argument)` once, after that time. Loop thread.
    ///
    /// - Returns: the timer's number, or minus an errno.
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

    /// Whether the daemon has the functions below: an older one has not.
    var hasStreams: Bool {
        // `!`: a member of the table, which has its place.
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

    /// Declares a metric; none with a daemon whose table ends before these functions.
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

    /// Of a metric that `metric` gave a number.
    func setMetric(_ number: UInt32, _ value: Double) { table.pointee.metric_set(table, number, value) }
    func addToMetric(_ number: UInt32, _ amount: Double) { table.pointee.metric_add(table, number, amount) }
}

/// A closure that travels as a C pointer.
private final class Box: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    /// The code that is handed this takes over the reference, once.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }
}

extension trestle_bytes {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
    }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size) }
}

extension BridgeError {
    /// Hands `body` the error as the interface has it.
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

    /// The error that the daemon describes.
    init(_ error: UnsafePointer<trestle_error>) {
        self.init(
            ErrorCode(rawValue: String(decoding: error.pointee.code.buffer, as: UTF8.self)),
            String(decoding: error.pointee.message.buffer, as: UTF8.self),
            data: error.pointee.data.size == 0 ? nil : try? JSON(parsing: error.pointee.data.buffer),
            isTransient: error.pointee.flags & TRESTLE_ERROR_TRANSIENT != 0,
            retryAfter: error.pointee.retry_after_ns < 0 ? nil : .nanoseconds(error.pointee.retry_after_ns))
    }
}
