import CTaskPlugin
import Dispatch
import EventLoop
import PluginInterface
import Testing

/// Stores the log lines that a plugin sends, in the order in which they take effect.
private final class LineReceiver: PluginReceiver {
    private(set) var lines: [String] = []
    var onLine: ((String) -> Void)?
    var onLast: (() -> Void)?

    override func logged(_ level: UInt32, _ text: String, _ call: trestle_call) {
        onLine?(text)
        lines.append(text)
        if text == "last" { onLast?() }
    }
}

@Suite("Messages from a plugin's threads", .timeLimit(.minutes(20))) @LoopActor
struct PluginReceiverTests {
    @Test("A log line without a call does not overtake a line that is being handled")
    func lines() async {
        let receiver = LineReceiver()
        // `nonisolated(unsafe)`: a receiver and its table exist as long as the process, and any thread may call them.
        nonisolated(unsafe) let vtable = receiver.vtable
        let (begun, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        receiver.onLine = { line in
            guard line == "first" else { return }
            // The loop handles this line while the thread sends the next lines.
            begun.signal()
            sent.wait()
        }
        let thread = DispatchQueue(label: "a plugin's thread")
        await withCheckedContinuation { continuation in
            receiver.onLast = { continuation.resume() }
            thread.async {
                send("first", of: 1, vtable)
                begun.wait()
                for _ in 0..<1_000 { send("between", of: 0, vtable) }
                sent.signal()
                send("last", of: 0, vtable)
            }
        }
        #expect(receiver.lines.first == "first" && receiver.lines.count == 1_002)
    }
}

private func send(_ line: String, of call: trestle_call, _ vtable: UnsafeMutablePointer<trestle_host>) {
    let count = line.utf8.count
    line.withCString {
        vtable.pointee.log(vtable, UInt32(TRESTLE_LOG_ERROR), trestle_bytes(data: $0, size: count), call)
    }
}
