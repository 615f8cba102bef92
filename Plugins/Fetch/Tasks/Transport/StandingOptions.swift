import CCurl

/// The libcurl options that requests share. A handle keeps them for the next request, because setting all of them takes
/// as long as the rest of libcurl's work for a short request.
struct StandingOptions: Equatable {
    /// The number of bytes received in one call. libcurl waits for the socket once for each call.
    private static let receivedBytes = 32 << 10

    private let proxy: String?
    private let authorityFile: String?
    private let connectMilliseconds: Int

    init(_ request: TransferRequest) {
        (proxy, authorityFile) = (request.proxy, request.tls.authorityFile)
        connectMilliseconds = request.connectTimeout.wholeMilliseconds
    }

    /// Sets the options on a handle that has none.
    func apply(to handle: UnsafeMutableRawPointer) -> Bool {
        setAddresses(handle) && setProtocol(handle) && setLimits(handle) && setTLS(handle) && setFunctions(handle)
    }

    private func setAddresses(_ handle: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
            && ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0) && ccurl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
            // An empty text also disables the proxies of the environment.
            && ccurl_set_text(handle, CURLOPT_PROXY, proxy ?? "") && ccurl_set_text(handle, CURLOPT_NOPROXY, "")
            // The request's own fields are not sent to the proxy.
            && ccurl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
            && ccurl_set_long(handle, CURLOPT_NETRC, 0)
    }

    private func setProtocol(_ handle: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            && ccurl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0)
            && ccurl_set_long(handle, CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    private func setLimits(_ handle: UnsafeMutableRawPointer) -> Bool {
        // libcurl refuses this if the handle's last transfer ended without a connection and has left its buffer.
        _ = ccurl_set_long(handle, CURLOPT_BUFFERSIZE, Self.receivedBytes)
        return ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
            && ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)
            && ccurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
            // Without this, ending a transfer during its lookup waits for the resolver and blocks all other transfers.
            && ccurl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    }

    private func setTLS(_ handle: UnsafeMutableRawPointer) -> Bool {
        let isSet =
            ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1) && ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
            && ccurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        guard isSet, let authorityFile else { return isSet }
        return ccurl_set_text(handle, CURLOPT_CAINFO, authorityFile) && ccurl_set_text(handle, CURLOPT_CAPATH, nil)
    }

    private func setFunctions(_ handle: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_response_functions(handle, TransferCallbacks.header, TransferCallbacks.body)
            && ccurl_set_request_functions(handle, TransferCallbacks.read, TransferCallbacks.seek)
            && ccurl_set_address_functions(
                handle, TransferCallbacks.resolve, TransferCallbacks.socket, TransferCallbacks.secure,
                TransferCallbacks.request)
    }
}
