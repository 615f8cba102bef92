internal import BridgeJSON
internal import BridgeMessage
internal import CTaskPlugin
import EventLoop
import Glibc

/// The functions that the host offers to a plugin. They forward to a ``PluginReceiver``. C code calls them, some on any
/// thread.
enum HostVTable {
    static func make(context: UnsafeMutableRawPointer) -> trestle_host {
        trestle_host(
            size: UInt32(MemoryLayout<trestle_host>.size), abi: TRESTLE_ABI, context: context, reply: reply, fail: fail,
            report_progress: progress, log: log, post: post, blocking: blocking, is_loop_thread: isLoopThread,
            call: call,
            cancel: cancel, publish: publish, metric: metric, metric_set: setMetric, metric_add: addToMetric,
            watch: watch, timer: timer, unwatch: unwatch, stream_new: makeStream, stream_write: writeStream,
            stream_read: readStream, stream_close: closeStream,
            stream_attach: attachStream, task_marks: taskMarks)
    }

    /// Calls `body` with the receiver of a table. The receiver exists as long as the process, so no reference is
    /// counted.
    @inline(__always)
    static func with<R>(
        _ vtable: UnsafePointer<trestle_host>?, else nothing: R, _ body: (PluginReceiver) -> R
    ) -> R {
        guard let context = vtable?.pointee.context else { return nothing }
        return Unmanaged<PluginReceiver>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    }

    // MARK: Any thread

    private static let reply: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        vtable, call, result in
        with(vtable, else: ()) { receiver in
            if receiver.takesNow {
                receiver.replied(call, result.buffer)
            } else {
                append(reply: result.buffer, to: call, receiver)
            }
        }
    }

    /// Queues a reply. It is a separate function, so that a reply that takes effect immediately saves no registers for
    /// it.
    @inline(never)
    private static func append(reply: UnsafeRawBufferPointer, to call: trestle_call, _ receiver: PluginReceiver) {
        receiver.append(.reply(call, Array(reply)))
    }

    private static let fail:
        @convention(c) (UnsafePointer<trestle_host>?, trestle_call, UnsafePointer<trestle_error>?) -> Void = {
            vtable, call, error in
            let error = BridgeError(foreign: error)
            with(vtable, else: ()) { receiver in
                if receiver.takesNow {
                    receiver.failed(call, error)
                } else {
                    receiver.append(.failure(call, error))
                }
            }
        }

    private static let progress: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        vtable, call, value in
        with(vtable, else: ()) { receiver in
            if receiver.takesNow {
                receiver.progressed(call, value.buffer)
            } else {
                receiver.append(.progress(call, Array(value.buffer)))
            }
        }
    }

    private static let log: @convention(c) (UnsafePointer<trestle_host>?, UInt32, trestle_bytes, trestle_call) -> Void =
        { vtable, level, message, call in
            with(vtable, else: ()) { receiver in
                guard receiver.writes(level: level) else { return }
                write(level, message.string, call, to: receiver)
            }
        }

    private static func write(_ level: UInt32, _ text: String, _ call: trestle_call, to receiver: PluginReceiver) {
        if receiver.takesNow {
            receiver.logged(level, text, call)
        } else {
            receiver.append(.line(level: level, text: text, call))
        }
    }

    private static let post:
        @convention(c) (
            UnsafePointer<trestle_host>?, (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, UnsafeMutableRawPointer?
        ) -> Void = { vtable, run, argument in
            guard let run else { return }
            with(vtable, else: ()) { receiver in
                // The loop keeps the order of functions that its own thread posts.
                if receiver.takesNow {
                    EventLoop.post(run, argument, as: receiver.holder)
                } else {
                    receiver.append(.function(run, argument))
                }
            }
        }

    private static let blocking:
        @convention(c) (
            UnsafePointer<trestle_host>?, (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
            (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, UnsafeMutableRawPointer?
        ) -> Void = { vtable, work, done, argument in
            guard let work, let done else { return }
            with(vtable, else: ()) { BlockingWork.run(work, done: done, argument, as: $0.holder) }
        }

    private static let isLoopThread: @convention(c) (UnsafePointer<trestle_host>?) -> Bool = { vtable in
        with(vtable, else: false) { $0.isOnLoopThread }
    }

    private static let metric: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_metric>?) -> UInt32 =
        { vtable, metric in
            guard let metric else { return 0 }
            let unit = metric.pointee.unit.string
            let isCounter = metric.pointee.kind == UInt32(TRESTLE_METRIC_COUNTER)
            let declaration = MetricDeclaration(
                name: metric.pointee.name.string, kind: isCounter ? .counter : .gauge,
                unit: unit.isEmpty ? nil : unit, help: metric.pointee.help.string)
            return with(vtable, else: 0) { receiver in
                do throws(MetricRefusal) { return try receiver.declared(declaration) } catch {
                    write(UInt32(TRESTLE_LOG_WARNING), "a metric is not published: \(error)", 0, to: receiver)
                    return 0
                }
            }
        }

    private static let setMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        vtable, metric, value in
        with(vtable, else: ()) { $0.setMetric(metric, to: value) }
    }

    private static let addToMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        vtable, metric, amount in
        with(vtable, else: ()) { $0.addToMetric(metric, amount) }
    }

    private static let taskMarks: @convention(c) (UnsafePointer<trestle_host>?, UInt32) -> UInt32 = { vtable, task in
        with(vtable, else: 0) { $0.taskMarks.marks(ofTask: task) }
    }

    private static let publish: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_event>?) -> Void = {
        vtable, event in
        guard let event else { return }
        let copy = PluginEvent(event)
        with(vtable, else: ()) { receiver in
            if receiver.takesNow { receiver.published(copy) } else { receiver.append(.event(copy)) }
        }
    }

    // MARK: Loop thread

    private static let call:
        @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_outgoing_call>?) -> trestle_call = {
            vtable, request in
            guard let request else { return 0 }
            return with(vtable, else: 0) { receiver in
                // The handle is needed immediately, so earlier messages are delivered first.
                receiver.deliverWaiting()
                return receiver.called(request)
            }
        }

    private static let cancel: @convention(c) (UnsafePointer<trestle_host>?, trestle_call) -> Void = { vtable, call in
        with(vtable, else: ()) { $0.cancelled(call) }
    }

    private static let watch:
        @convention(c) (
            UnsafePointer<trestle_host>?, Int32, UInt32, (@convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void)?,
            UnsafeMutableRawPointer?
        ) -> Int64 = { vtable, descriptor, events, ready, argument in
            guard let ready else { return -Int64(EINVAL) }
            return with(vtable, else: -Int64(EINVAL)) { receiver in
                let function = WatchFunction(receiver, argument, ready)
                return withWatches(receiver) { $0.watch(descriptor, events, function) }
            }
        }

    private static let timer:
        @convention(c) (
            UnsafePointer<trestle_host>?, Int64, (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
            UnsafeMutableRawPointer?
        ) -> Int64 = { vtable, delay, fire, argument in
            guard let fire else { return -Int64(EINVAL) }
            return with(vtable, else: -Int64(EINVAL)) { receiver in
                let function = WatchFunction(receiver, argument) { argument, _ in fire(argument) }
                return withWatches(receiver) { $0.timer(delay, function) }
            }
        }

    private static let unwatch: @convention(c) (UnsafePointer<trestle_host>?, Int64) -> Void = { vtable, watch in
        with(vtable, else: ()) { receiver in
            _ = withWatches(receiver) { watches in
                watches.end(watch)
                return 0
            }
        }
    }

    /// - Returns: The result of `body`, or `-EINVAL` outside of the loop thread.
    private static func withWatches(_ receiver: PluginReceiver, _ body: @LoopActor (PluginWatches) -> Int64) -> Int64 {
        guard receiver.isOnLoopThread else { return -Int64(EINVAL) }
        let watches = receiver.watches
        return LoopActor.assumeIsolated { body(watches) }
    }
}
