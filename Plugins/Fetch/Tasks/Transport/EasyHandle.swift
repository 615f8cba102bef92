import CCurl
import TaskKit

/// libcurl's handle of one request after the other: to make one takes longer than to set up a request. The thread of
/// its network only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The options that it has; nil: none, or some that are of one request alone.
    private var options: StandingOptions?

    /// - Throws: Where there is no memory.
    init() throws(BridgeError) {
        guard let pointer = curl_easy_init() else {
            throw BridgeError(.internal, "there is no memory for a transfer")
        }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }

    /// Sets up what a request has in common with others.
    ///
    /// - Returns: False where libcurl takes an option not.
    func prepare(_ options: StandingOptions) -> Bool {
        if options == self.options { return true }
        forget()
        guard options.apply(to: pointer) else { return false }
        self.options = options
        return true
    }

    /// Ends the use by a request. What that has given may be freed then.
    ///
    /// - Parameter keepsOptions: Whether the next request may find the standing options, and libcurl's state of this
    ///   one. Where not, all of it is forgotten: options, functions, texts and state.
    func leave(keepsOptions: Bool) {
        guard keepsOptions, ccurl_set_url(pointer, nil), ccurl_set_header_lines(pointer, nil) else { return forget() }
    }

    private func forget() {
        options = nil
        curl_easy_reset(pointer)
    }
}
