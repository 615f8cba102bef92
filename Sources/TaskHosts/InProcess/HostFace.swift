import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import Glibc
import PluginInterface
import TaskRuntime

/// The functions that the daemon offers to a plugin. C calls them, some from any thread: those that come on the loop
/// thread take effect at once, the others are copied and posted.
enum HostFace {
    static func make(context: UnsafeMutableRawPointer) -> trestle_host {
        trestle_host(
            size: UInt32(MemoryLayout<trestle_host>.size), abi: TRESTLE_ABI, context: context, reply: reply, fail: fail,
            progress: progress, log: log, post: post, blocking: blocking, is_loop_thread: isLoopThread, call: call,
            cancel: cancel, publish: publish, metric: metric, metric_set: setMetric, metric_add: addToMetric)
    }

    /// The host behind a table. It lives as long as the process, and its state is touched on the loop thread alone.
    private static func host(_ face: UnsafePointer<trestle_host>?) -> InProcessHost? {
        guard let context = face?.pointee.context else { return nil }
        return Unmanaged<InProcessHost>.fromOpaque(context).takeUnretainedValue()
    }

    /// The same without counting references, for what comes with every call.
    @inline(__always)
    private static func withHost(_ face: UnsafePointer<trestle_host>?, _ body: (InProcessHost) -> Void) {
        guard let context = face?.pointee.context else { return }
        Unmanaged<InProcessHost>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    }

    /// Runs `body` with the host on the loop thread: now where this is it, else soon. What `body` captures is copied
    /// beforehand where the latter may be.
    private static func onLoop(
        _ face: UnsafePointer<trestle_host>?, _ body: @escaping @Sendable (InProcessHost) -> Void
    ) {
        // The table's address is a constant of the process; a number may travel between threads.
        let address = UInt(bitPattern: face)
        EventLoop.post {
            guard let host = host(UnsafePointer(bitPattern: address)) else { return }
            body(host)
        }
    }

    // MARK: Any thread

    private static let reply: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        face, call, result in
        let handle = CallHandle(rawValue: call)
        if isOnLoopThread(face) {
            withHost(face) { $0.reply(handle, result.buffer) }
        } else {
            let copy = Array(result.buffer)
            onLoop(face) { host in copy.withUnsafeBytes { host.slot?.reply(handle, $0) } }
        }
    }

    private static let fail:
        @convention(c) (UnsafePointer<trestle_host>?, trestle_call, UnsafePointer<trestle_error>?) -> Void = {
            face, call, error in
            let handle = CallHandle(rawValue: call)
            let error = BridgeError(foreign: error)
            if LoopActor.isOnLoopThread {
                host(face)?.slot?.fail(handle, error)
            } else {
                onLoop(face) { $0.slot?.fail(handle, error) }
            }
        }

    private static let progress: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        face, call, value in
        let handle = CallHandle(rawValue: call)
        if LoopActor.isOnLoopThread {
            host(face)?.slot?.progress(handle, value.buffer)
        } else {
            let copy = Array(value.buffer)
            onLoop(face) { host in copy.withUnsafeBytes { host.slot?.progress(handle, $0) } }
        }
    }

    private static let log: @convention(c) (UnsafePointer<trestle_host>?, UInt32, trestle_bytes, trestle_call) -> Void =
        {
            face, level, message, call in
            guard let host = host(face), host.log.writes(level: level) else { return }
            let text = message.string
            let handle = CallHandle(rawValue: call)
            if call == 0 {
                host.log.write(level: level, text)
            } else if LoopActor.isOnLoopThread {
                host.log.write(level: level, text, host.runtime.logMetadata(of: handle))
            } else {
                // What there is to be said of the call is known there.
                onLoop(face) { $0.log.write(level: level, text, $0.runtime.logMetadata(of: handle)) }
            }
        }

    private static let post:
        @convention(c) (
            UnsafePointer<trestle_host>?, (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, UnsafeMutableRawPointer?
        ) -> Void = { _, run, argument in
            if let run { EventLoop.post(run, argument) }
        }

    private static let blocking:
        @convention(c) (
            UnsafePointer<trestle_host>?, (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
            (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, UnsafeMutableRawPointer?
        ) -> Void = { _, work, done, argument in
            if let work, let done { BlockingWork.run(work, done: done, argument) }
        }

    private static let isLoopThread: @convention(c) (UnsafePointer<trestle_host>?) -> Bool = { isOnLoopThread($0) }

    /// As `LoopActor.isOnLoopThread`, without the way to the loop's own state: this comes twice with every call.
    @inline(__always)
    private static func isOnLoopThread(_ face: UnsafePointer<trestle_host>?) -> Bool {
        guard let context = face?.pointee.context else { return false }
        return Unmanaged<InProcessHost>.fromOpaque(context)._withUnsafeGuaranteedRef {
            pthread_equal(pthread_self(), $0.loopThread) != 0
        }
    }

    private static let metric: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_metric>?) -> UInt32 =
        { face, metric in
            guard let host = host(face), let metrics = host.metrics, let metric else { return 0 }
            let unit = metric.pointee.unit.string
            do throws(FigureRefusal) {
                let isCounter = metric.pointee.kind == UInt32(TRESTLE_METRIC_COUNTER)
                return UInt32(
                    try metrics.declare(
                        FigureDeclaration(
                            name: metric.pointee.name.string, kind: isCounter ? .counter : .gauge,
                            unit: unit.isEmpty ? nil : unit, help: metric.pointee.help.string)))
            } catch {
                host.log.write(level: UInt32(TRESTLE_LOG_WARNING), "a figure is not published: \(error)")
                return 0
            }
        }

    private static let setMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        face, metric, value in
        withHost(face) { $0.metrics?.set(Int(metric), value) }
    }

    private static let addToMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        face, metric, amount in
        withHost(face) { $0.metrics?.add(Int(metric), amount) }
    }

    // MARK: Loop thread

    private static let call:
        @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_bridge_call>?) -> trestle_call = {
            face, request in
            guard let host = host(face), let slot = host.slot, let request else { return 0 }
            return PluginBridgeCall.make(request, slot, host.runtime).rawValue
        }

    private static let cancel: @convention(c) (UnsafePointer<trestle_host>?, trestle_call) -> Void = { face, call in
        host(face)?.runtime.cancelPluginCall(CallHandle(rawValue: call))
    }

    private static let publish: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_event>?) -> Void = {
        face, event in
        guard let host = host(face), let event else { return }
        let data = event.pointee.data.buffer.isEmpty ? Array("null".utf8) : Array(event.pointee.data.buffer)
        if let fault = data.withUnsafeBytes({ host.runtime.fault(in: $0) }) {
            return host.log.write(
                level: UInt32(TRESTLE_LOG_WARNING), "an event's data are no JSON, it was not sent: \(fault)")
        }
        let sessions = event.pointee.sessions.map {
            Array(UnsafeBufferPointer(start: $0, count: event.pointee.session_count))
        }
        data.withUnsafeBytes {
            host.runtime.publish(
                event.pointee.name.string, data: $0, to: sessions,
                unasked: event.pointee.flags & TRESTLE_EVENT_UNASKED != 0)
        }
    }
}
