import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import Glibc
import PluginInterface

/// The functions that a plugin is offered in a process of its own. C calls them, some from any thread: those that come on the
/// loop thread take effect at once, the others are copied and posted.
enum GuestFace {
    static func make(context: UnsafeMutableRawPointer) -> trestle_host {
        trestle_host(
            size: UInt32(MemoryLayout<trestle_host>.size), abi: TRESTLE_ABI, context: context, reply: reply, fail: fail,
            progress: progress, log: log, post: post, blocking: blocking, is_loop_thread: isLoopThread, call: call,
            cancel: cancel, publish: publish, metric: metric, metric_set: setMetric, metric_add: addToMetric)
    }

    /// It lives as long as the process; its state is touched on the loop thread alone.
    private static func guest(_ face: UnsafePointer<trestle_host>?) -> Guest? {
        guard let context = face?.pointee.context else { return nil }
        return Unmanaged<Guest>.fromOpaque(context).takeUnretainedValue()
    }

    /// Runs `body` with the guest on the loop thread, soon.
    private static func onLoop(_ face: UnsafePointer<trestle_host>?, _ body: @escaping @Sendable (Guest) -> Void) {
        // The table's address is a constant of the process; a number may travel between threads.
        let address = UInt(bitPattern: face)
        EventLoop.post {
            guard let guest = guest(UnsafePointer(bitPattern: address)) else { return }
            body(guest)
        }
    }

    // MARK: Any thread

    private static let reply: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        face, call, result in
        if LoopActor.isOnLoopThread {
            guest(face)?.reply(call, result.buffer)
        } else {
            let copy = Array(result.buffer)
            onLoop(face) { guest in copy.withUnsafeBytes { guest.reply(call, $0) } }
        }
    }

    private static let fail:
        @convention(c) (UnsafePointer<trestle_host>?, trestle_call, UnsafePointer<trestle_error>?) -> Void = {
            face, call, error in
            let error = BridgeError(foreign: error)
            if LoopActor.isOnLoopThread {
                guest(face)?.refuse(call, error)
            } else {
                onLoop(face) { $0.refuse(call, error) }
            }
        }

    private static let progress: @convention(c) (UnsafePointer<trestle_host>?, trestle_call, trestle_bytes) -> Void = {
        face, call, value in
        if LoopActor.isOnLoopThread {
            guest(face)?.progress(call, value.buffer)
        } else {
            let copy = Array(value.buffer)
            onLoop(face) { guest in copy.withUnsafeBytes { guest.progress(call, $0) } }
        }
    }

    private static let log: @convention(c) (UnsafePointer<trestle_host>?, UInt32, trestle_bytes, trestle_call) -> Void =
        { face, level, message, call in
            let text = message.string
            if LoopActor.isOnLoopThread {
                guest(face)?.log(level, text, call)
            } else {
                onLoop(face) { $0.log(level, text, call) }
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

    private static let isLoopThread: @convention(c) (UnsafePointer<trestle_host>?) -> Bool = { _ in
        LoopActor.isOnLoopThread
    }

    private static let metric: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_metric>?) -> UInt32 =
        { face, metric in
            guard let guest = guest(face), let metric else { return 0 }
            let unit = metric.pointee.unit.string
            let isCounter = metric.pointee.kind == UInt32(TRESTLE_METRIC_COUNTER)
            let figure = FigureDeclaration(
                name: metric.pointee.name.string, kind: isCounter ? .counter : .gauge,
                unit: unit.isEmpty ? nil : unit, help: metric.pointee.help.string)
            do throws(FigureRefusal) { return try guest.figures.declare(figure) } catch {
                let text = "a figure is not published: \(error)"
                onLoop(face) { $0.log(UInt32(TRESTLE_LOG_WARNING), text, 0) }
                return 0
            }
        }

    private static let setMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        face, metric, value in
        guest(face)?.figures.set(metric, value)
    }

    private static let addToMetric: @convention(c) (UnsafePointer<trestle_host>?, UInt32, Double) -> Void = {
        face, metric, amount in
        guest(face)?.figures.add(metric, amount)
    }

    // MARK: Loop thread

    private static let call:
        @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_bridge_call>?) -> trestle_call = {
            face, request in
            guard let guest = guest(face), let request else { return 0 }
            return guest.own.make(request)
        }

    private static let cancel: @convention(c) (UnsafePointer<trestle_host>?, trestle_call) -> Void = { face, call in
        guest(face)?.own.cancel(call)
    }

    private static let publish: @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_event>?) -> Void = {
        face, event in
        guard let guest = guest(face), let event else { return }
        let data = event.pointee.data.buffer
        guard data.count <= guest.messageBytes else {
            return guest.log(
                UInt32(TRESTLE_LOG_WARNING),
                "an event has \(data.count) bytes, more than a message may: it was not sent", 0)
        }
        // They stand two levels deep in what the daemon is told.
        guard data.isEmpty || guest.check.fault(in: data, levelsAround: 2) == nil,
            let value = data.isEmpty ? .null : try? JSON(parsing: data)
        else { return guest.log(UInt32(TRESTLE_LOG_WARNING), "an event's data are no JSON, it was not sent", 0) }
        var options: JSONObject = ["event": .string(event.pointee.name.string), "data": value]
        if let sessions = event.pointee.sessions {
            let numbers = UnsafeBufferPointer(start: sessions, count: event.pointee.session_count)
            options["sessions"] = .array(numbers.map { .number(JSONNumber($0)) })
        }
        if event.pointee.flags & TRESTLE_EVENT_UNASKED != 0 { options["unasked"] = true }
        guest.say("plugin.publish", .object(options))
    }
}
