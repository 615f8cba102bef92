import CCurl
import TaskKit

/// A libcurl handle that serves one request after the other, because creating a handle takes longer than setting up a
/// request. Used only by the thread of its network.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The standing options that are set; `nil` if none are set or others are set, too.
    private var options: StandingOptions?

    /// Creates a handle.
    ///
    /// - Throws: If there is no memory.
    init() throws(BridgeError) {
        guard let pointer = curl_easy_init() else {
            throw BridgeError(.internal, "there is not enough memory for a transfer")
        }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }

    /// Sets the options that a request shares with others.
    ///
    /// - Returns: False if libcurl refuses an option.
    func prepare(_ options: StandingOptions) -> Bool {
        if options == self.options { return true }
        forget()
        guard options.apply(to: pointer) else { return false }
        self.options = options
        return true
    }

    /// Ends the use by a request. The request's data may be freed afterwards.
    ///
    /// - Parameter keepsOptions: Whether the standing options and libcurl's state are kept for the next request. If
    ///   false, options, functions, texts and state are reset.
    func leave(keepsOptions: Bool) {
        guard keepsOptions, ccurl_set_url(pointer, nil), ccurl_set_header_lines(pointer, nil) else { return forget() }
    }

    private func forget() {
        options = nil
        curl_easy_reset(pointer)
    }
}
