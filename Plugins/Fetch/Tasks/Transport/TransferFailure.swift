import CCurl
import HTTPRules
import NetworkAccess
import TaskKit

/// The errors of callers for libcurl's results.
extension Transfer {
    /// Returns the error for a result that no callback has caused.
    func error(_ result: CURLcode) -> BridgeError {
        let host = request.url.host.text
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST: return unreached(.httpDNS, "the name \(host) cannot be resolved")
        case CURLE_COULDNT_CONNECT: return unreached(.httpConnect, "\(host) does not accept a connection")
        case CURLE_OPERATION_TIMEDOUT: return timeout()
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            return tls("protocol", "no TLS session can be made with \(host)")
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return tls("pin", "the public key of \(host) is not in the setting pins")
        case CURLE_COULDNT_RESOLVE_PROXY: return passing(.httpConnect, "the name of the proxy cannot be resolved")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: return untrusted()
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
            return tls("issuer", "the trusted certificates cannot be read; check the setting ca_file")
        // CURLE_BAD_FUNCTION_ARGUMENT: a header line without a colon before its first CR.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING,
            CURLE_BAD_FUNCTION_ARGUMENT:
            return .brokenProtocol("the server's response is not valid HTTP")
        case CURLE_SEND_FAIL_REWIND: return .bodyUsed
        // libcurl's own limit for a line, which is above the limit for all lines here.
        case CURLE_OUT_OF_MEMORY where hasStarted && pipeline == nil:
            let limit = HeaderList.maximumBytes
            return .tooLarge(.headers, limit: Int64(limit), "the server's headers have more than \(limit) bytes")
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2_STREAM:
            return passing(
                .httpInterrupted, "the connection to \(host) ended before the response did",
                ["received": .number(JSONNumber(progress.received))])
        default:
            return BridgeError(
                .internal, "the transfer failed: \(String(cString: curl_easy_strerror(result)))",
                data: ["started": .bool(hasStarted)])
        }
    }

    /// Returns `http.timeout` for the current phase.
    func timeout() -> BridgeError {
        let phase = progress.phase.rawValue
        return passing(
            .httpTimeout, "the transfer took too long while \(phase)", ["phase": .string(phase)])
    }

    /// Returns the error for an unreachable host, or another one if the daemon has no network access.
    private func unreached(_ code: ErrorCode, _ message: String) -> BridgeError {
        if !triesLoopback, let obstacle = NetworkAccess.obstacle() {
            return .noNetwork(obstacle, host: request.url.host)
        }
        return passing(code, message)
    }

    private func passing(_ code: ErrorCode, _ message: String, _ more: JSONObject = [:]) -> BridgeError {
        var data = more
        data["started"] = .bool(hasStarted)
        return BridgeError(code, message, data: .object(data), isTransient: true)
    }

    private func tls(_ reason: String, _ message: String) -> BridgeError {
        BridgeError(.httpTLS, message, data: ["reason": .string(reason), "started": false])
    }

    private func untrusted() -> BridgeError {
        let host = request.url.host.text
        // The numbers of OpenSSL's X509_V_ERR_… results.
        switch ccurl_long(handle, CURLINFO_SSL_VERIFYRESULT) {
        case 9, 10: return tls("expired", "the certificate of \(host) is not valid at this time")
        // The result is 1 until the name was compared.
        case 0, 1, 62, 64: return tls("name", "the certificate of \(host) is for another name")
        default:
            let text =
                "the certificate of \(host) is not from a trusted authority; the setting ca_file names authorities"
            return tls("issuer", text)
        }
    }
}
