import CCurl
import TaskKit

/// libcurl's handle of one request after the other: to make one takes longer than to set up a request. The thread of
/// its network only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer

    /// - Throws: Where there is no memory.
    init() throws(BridgeError) {
        guard let pointer = curl_easy_init() else {
            throw BridgeError(.internal, "there is no memory for a transfer")
        }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }

    /// Forgets all of a request: its options, functions, texts and state. What was given to it may be freed then.
    func forget() { curl_easy_reset(pointer) }
}
