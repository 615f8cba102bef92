import CCurl

/// The options of libcurl that requests have in common. A handle keeps them for the next request: to set them all takes
/// as long as the rest that libcurl does for a short one.
struct StandingOptions: Equatable {
    /// How many bytes are received in one call. libcurl waits for the socket once for each.
    private static let receivedBytes = 32 << 10

    private let proxy: String?
    private let authorityFile: String?
    private let connectMilliseconds: Int

    init(_ request: TransferRequest) {
        (proxy, authorityFile) = (request.proxy, request.tls.authorityFile)
        connectMilliseconds = request.connectTimeout.wholeMilliseconds
    }

    /// Sets them on a handle that has no options.
    func apply(to handle: UnsafeMutableRawPointer) -> Bool {
        setAddresses(handle) && setProtocol(handle) && setLimits(handle) && setTLS(handle) && setFunctions(handle)
    }

    private func setAddresses(_ handle: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
            && ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0) && ccurl_set_long(handle, CURLOPT_PATH_AS_IS, 1)
            // Not those of the environment either.
            && ccurl_set_text(handle, CURLOPT_PROXY, proxy ?? "") && ccurl_set_text(handle, CURLOPT_NOPROXY, "")
            // The request's own fields are not for the proxy.
            && ccurl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
            && ccurl_set_long(handle, CURLOPT_NETRC, 0)
    }

    private func setProtocol(_ handle: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
            && ccurl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0)
            && ccurl_set_long(handle, CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    private func setLimits(_ handle: UnsafeMutableRawPointer) -> Bool {
        // Refused where the handle's last transfer ended before it had a connection, and has left its buffer.
        _ = ccurl_set_long(handle, CURLOPT_BUFFERSIZE, Self.receivedBytes)
        return ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
            && ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)
            && ccurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
            // Without this, the end of a transfer whose name is looked up waits for the resolver, and all others too.
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
