import CCurl
import Synchronization
import TaskKit

/// The libcurl transfers of one thread. Other threads may wake that thread.
///
/// `@unchecked`: only its owner thread uses it, except for ``wakeUp()``, which libcurl permits from any thread.
final class MultiHandle: @unchecked Sendable {  // one thread; see above
    /// The maximum number of connections to a host, as in browsers for HTTP/1.1.
    private static let connectionsOfHost = 6
    /// The maximum number of connections that are kept for later requests.
    private static let keptConnections = 64

    private let multi: UnsafeMutableRawPointer
    /// Whether the handle has been freed. The owner thread takes this lock only to free the handle, so a woken thread
    /// does not wait for a lock.
    private let isFree = Mutex(false)

    /// Creates a handle; `nil` if there is no memory.
    init?() {
        guard let multi = curl_multi_init() else { return nil }
        guard ccurl_limit_connections(multi, Self.connectionsOfHost, Self.keptConnections) else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
    }

    /// Ends the current or the next wait. Does nothing after ``free()``. Any thread.
    func wakeUp() { isFree.withLock { if !$0 { curl_multi_wakeup(multi) } } }

    /// Frees the handle. The last transfer must have been removed before.
    func free() {
        isFree.withLock { isFree in
            isFree = true
            curl_multi_cleanup(multi)
        }
    }

    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(multi, transfer.handle) == CURLM_OK }
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(multi, transfer.handle) }

    /// Performs all work that is possible without waiting.
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

    /// Waits for a socket, a libcurl timer or ``wakeUp()``.
    ///
    /// - Parameter descriptors: Further descriptors to wait for. The ready ones are marked.
    func wait(atMost duration: Duration, _ descriptors: inout [curl_waitfd]) {
        let milliseconds = Int32(clamping: max(0, duration.wholeMilliseconds))
        curl_multi_poll(multi, &descriptors, UInt32(descriptors.count), milliseconds, nil)
    }
}
