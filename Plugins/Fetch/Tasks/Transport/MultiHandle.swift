import CCurl
import Synchronization
import TaskKit

/// libcurl's transfers of one thread, which may be woken up by others.
///
/// `@unchecked`: but for ``wakeUp()``, which libcurl allows to every thread, it is used by the thread that owns it.
final class MultiHandle: @unchecked Sendable {  // one thread; see above
    /// HTTP/1.1, as browsers have it.
    private static let connectionsOfHost = 6
    /// Connections that are kept for later requests.
    private static let keptConnections = 64

    private let multi: UnsafeMutableRawPointer
    /// Whether it has been freed. The thread that owns it takes this lock to free it and never else: woken up, it does
    /// not wait for a lock.
    private let isFree = Mutex(false)

    /// Nil: there is no memory.
    init?() {
        guard let multi = curl_multi_init() else { return nil }
        guard ccurl_limit_connections(multi, Self.connectionsOfHost, Self.keptConnections) else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
    }

    /// Ends the wait, or the next one. Any thread; nothing where it has been freed.
    func wakeUp() { isFree.withLock { if !$0 { curl_multi_wakeup(multi) } } }

    /// After the last transfer was removed.
    func free() {
        isFree.withLock { isFree in
            isFree = true
            curl_multi_cleanup(multi)
        }
    }

    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(multi, transfer.handle) == CURLM_OK }
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(multi, transfer.handle) }

    /// Does what can be done now.
    ///
    /// - Parameter onEnd: Called for each transfer that has ended.
    func perform(onEnd: (Transfer, CURLcode) -> Void) {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var result = CURLE_OK
        while let handle = ccurl_next_done(multi, &result) {
            guard let context = ccurl_context(handle) else { continue }
            onEnd(Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), result)
        }
    }

    /// Waits for a socket, a timer of libcurl's, or to be woken up.
    ///
    /// - Parameter descriptors: What is waited for, too. It is marked which of them are ready.
    func wait(atMost duration: Duration, _ descriptors: inout [curl_waitfd]) {
        let milliseconds = Int32(clamping: max(0, duration.wholeMilliseconds))
        curl_multi_poll(multi, &descriptors, UInt32(descriptors.count), milliseconds, nil)
    }
}
