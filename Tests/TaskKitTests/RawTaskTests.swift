import CTaskPlugin
import Dispatch
import Synchronization
import TaskKit
import Testing

// A reply given twice, or used after it was given, does not compile: `Reply` is noncopyable and its methods consume it.
//     reply.succeed(options)
//     reply.succeed(options)   // error: 'reply' consumed more than once

/// Handles its reply as its options specify.
private struct Handling: RawTask {
    static let name = "handling"
    static let summary = "Does with its reply what its options say."

    let shelf: Shelf

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        let word = options.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        switch word {
        case #""drop""#: break
        case #""fail""#: reply.fail(BridgeError("handling.failed", "As asked."))
        case #""keep""#: shelf.put(reply, call)
        case #""thread""#:
            let box = Box(reply)
            DispatchQueue.global().async { box.take()?.succeed(bytes: Array("\"from a thread\"".utf8)) }
        case #""early""#:
            let (box, isDone) = (Box(reply), DispatchSemaphore(value: 0))
            DispatchQueue.global().async {
                box.take()?.succeed(bytes: Array("\"early\"".utf8))
                isDone.signal()
            }
            shelf.put(call)
            isDone.wait()
        case #""act""#:
            shelf.act()
            shelf.put(reply, call)
        case #""act, reply""#:
            shelf.put(call)
            shelf.act()
            reply.succeed(bytes: Array("\(call.isCancelled)".utf8))
        default: reply.succeed(options)
        }
    }
}

/// Holds a noncopyable reply for a closure that may be called once.
private final class Box: Sendable {
    private let reply: Mutex<Reply?>

    init(_ reply: consuming Reply) {
        self.reply = Mutex(reply)
    }

    func take() -> Reply? {
        reply.withLock { $0.take() }
    }
}

/// Holds a reply until the test takes it.
private final class Shelf: Sendable {
    private let reply = Mutex<Reply?>(nil)
    private let call = Mutex<Call?>(nil)
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    /// Sets the next action of the task in its `run`.
    func set(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
    }

    func act() {
        action.withLock { $0.take() }?()
    }

    func put(_ reply: consuming Reply, _ call: Call) {
        var given: Reply? = reply
        self.reply.withLock { $0 = given.take() }
        put(call)
    }

    func put(_ call: Call) {
        self.call.withLock { $0 = call }
    }

    func take() -> Reply? {
        reply.withLock { $0.take() }
    }

    var isCancelled: Bool? { call.withLock { $0?.isCancelled } }
}

@Suite("A raw task", .timeLimit(.minutes(20)))
struct RawTaskTests {
    private let shelf: Shelf
    private let host: FakeHost

    init() {
        let shelf = Shelf()
        self.shelf = shelf
        host = FakeHost(Plugin("raw", version: "1.0.0") { Handling(shelf: shelf) })
    }

    @Test("returns the same bytes that it received, without a copy")
    func sameBytes() async {
        let text = #"{"b": 1,  "a": [1e400, "\u00e9"]}"#
        let handle = await host.onLoop { host in
            host.request(.call(0), text)
        }
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
        #expect(await host.onLoop { $0.lastResultAddress == $0.lastOptionsAddress })
    }

    @Test("is answered with an error if it drops its reply")
    func dropped() async {
        guard case .error(let error) = await host.answer(.call(0), #""drop""#) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .replyMissing)
        #expect(error.message.contains("raw"))
    }

    @Test("may fail")
    func fails() async {
        #expect(await host.answer(.call(0), #""fail""#) == .error(BridgeError("handling.failed", "As asked.")))
    }

    @Test("may answer from another thread")
    func fromThread() async {
        #expect(await host.answer(.call(0), #""thread""#) == .result("from a thread"))
    }

    @Test("may answer from another thread before run has returned")
    func early() async {
        let handle = await host.onLoop { $0.request(.call(0), #""early""#) }
        #expect(await host.answer(to: handle) == .result("early"))
        // The call has ended, so that a cancellation has no effect.
        await host.cancel(handle)
        #expect(shelf.isCancelled == false)
    }

    @Test("may be called again while it answers")
    func nested() async throws {
        let inner = Mutex<trestle_call>(0)
        let outer = await host.onLoop { host in
            host.duringNextAnswer { host in
                let handle = host.request(.call(0), #""keep""#)
                inner.withLock { $0 = handle }
            }
            return host.request(.call(0), "1")
        }
        #expect(await host.answer(to: outer) == .result(1))
        #expect(shelf.isCancelled == false)
        let kept = inner.withLock { $0 }
        await host.cancel(kept)
        #expect(shelf.isCancelled == true)
        shelf.take()?.succeed(bytes: Array("2".utf8))
        #expect(await host.answer(to: kept) == .result(2))
        #expect(await host.onLoop { $0.answers[outer]?.count } == 1)
    }

    @Test("may answer after run has returned, and can detect its cancellation")
    func later() async {
        let handle = await host.onLoop { $0.request(.call(0), #""keep""#) }
        #expect(await host.onLoop { $0.answers[handle] } == nil)
        #expect(shelf.isCancelled == false)
        await host.cancel(handle)
        #expect(shelf.isCancelled == true)
        shelf.take()?.succeed(bytes: Array("1".utf8))
        #expect(await host.answer(to: handle) == .result(1))
        #expect(shelf.isCancelled == false)
        // A cancellation after the answer has no effect.
        await host.cancel(handle)
        #expect(shelf.isCancelled == false)
    }

    @Test("is answered with an error when it drops a kept reply")
    func droppedLater() async {
        let handle = await host.onLoop { $0.request(.call(0), #""keep""#) }
        _ = shelf.take()
        guard case .error(let error) = await host.answer(to: handle) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .replyMissing)
        #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
    }

    /// Makes the next `run` cancel its own request.
    private func cancelDuringRun() {
        shelf.set { [host] in
            host.plugin.pointee.cancel(host.plugin.pointee.context, host.lastHandle, UInt32(TRESTLE_CANCEL_CALLER))
        }
    }

    @Test("can detect a cancellation during run, then and until it answers")
    func cancelledDuringRun() async {
        cancelDuringRun()
        let handle = await host.onLoop { $0.request(.call(0), #""act""#) }
        #expect(shelf.isCancelled == true)
        shelf.take()?.succeed(bytes: Array("1".utf8))
        #expect(await host.answer(to: handle) == .result(1))
        #expect(shelf.isCancelled == false)
    }

    @Test("leaves no state behind if it is cancelled and answers during run")
    func cancelledAndAnswered() async {
        cancelDuringRun()
        #expect(await host.answer(.call(0), #""act, reply""#) == .result(true))
        #expect(shelf.isCancelled == false)
        // The next call does not count as cancelled.
        shelf.set {}
        #expect(await host.answer(.call(0), #""act, reply""#) == .result(false))
    }

    @Test("may be called again during its run, and answer later")
    func calledInside() async {
        // Inside the run of the outer call, which keeps its reply, an inner call is made and answered.
        let outer = await host.onLoop { [shelf] host in
            shelf.set { _ = host.request(.call(0), "2") }
            return host.request(.call(0), #""act""#)
        }
        #expect(await host.onLoop { $0.answers[outer] } == nil)
        shelf.take()?.succeed(bytes: Array("1".utf8))
        #expect(await host.answer(to: outer) == .result(1))
        #expect(await host.onLoop { $0.answers[outer + 1] } == [.result(2)])
    }

    @Test("leaves no state behind if threads answer around the return of run")
    func races() async {
        for _ in 0..<500 {
            let handle = await host.onLoop { $0.request(.call(0), #""thread""#) }
            await host.cancel(handle)
            #expect(await host.answer(to: handle) == .result("from a thread"))
            #expect(await host.onLoop { $0.answers[handle]?.count } == 1)
        }
    }
}
