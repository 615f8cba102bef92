import CCurl
import Glibc
import HTTPRules
import TaskKit

/// The functions that libcurl calls on the network's thread while a transfer runs. Their context is the transfer.
enum TransferCallbacks {
    /// Accepts a line before or after the body.
    static let header: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return 0 }
        return transfer.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }

    /// Accepts bytes of the body.
    static let body: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return 0 }
        switch transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
        case .taken: return size * count
        case .full: return ccurl_write_pause
        case .refused: return 0
        }
    }

    /// Provides bytes of the request's body.
    static let read: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return ccurl_read_abort }
        return transfer.giveBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    /// Restarts the request's body after a connection was lost before it was used.
    static let seek: ccurl_seek_function = { context, offset, origin in
        guard let transfer = transfer(context), offset == 0, origin == SEEK_SET,
            transfer.request.body?.rewind() ?? true
        else { return Int32(CURL_SEEKFUNC_FAIL) }
        return Int32(CURL_SEEKFUNC_OK)
    }

    /// Called before a name is looked up that libcurl has not cached.
    static let resolve: ccurl_resolve_function = { _, _, context in
        guard let transfer = transfer(context), transfer.beginLookup() else { return 1 }
        return 0
    }

    /// Creates a socket for an address if the address is permitted.
    static let socket: ccurl_socket_function = { context, _, target in
        guard let target, let transfer = transfer(context) else { return -1 }
        let (family, kind, number) = (target.pointee.family, target.pointee.socktype, target.pointee.protocol)
        let address = withUnsafePointer(to: &target.pointee.addr) { IPAddress($0) }
        guard transfer.mayReach(address) else { return -1 }
        transfer.note(.connecting)
        return Glibc.socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), number)
    }

    /// Called when the connection is established and the TLS handshake begins.
    static let secure: ccurl_secure_function = { _, _, context in
        transfer(context)?.note(.securing)
        return CURLE_OK
    }

    /// Called before the request is sent on a connection.
    static let request: ccurl_request_function = { context, remote, _, _, _ in
        guard let remote, let transfer = transfer(context) else { return Int32(CURL_PREREQFUNC_ABORT) }
        guard transfer.mayReach(IPAddress(remote: remote)) else { return Int32(CURL_PREREQFUNC_ABORT) }
        transfer.noteConnected()
        return Int32(CURL_PREREQFUNC_OK)
    }

    private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension Transfer {
    /// The result of passing bytes of the body to a transfer.
    enum Intake {
        case taken
        case full
        case refused
    }

    fileprivate func mayReach(_ address: IPAddress?) -> Bool {
        // It is the address of the proxy, which the operator has configured.
        if request.proxy != nil { return true }
        guard let reason = request.gate.reason(against: address) else {
            if address?.addressClass == .loopback { triesLoopback = true }
            return true
        }
        if fault == nil { fault = AddressGate.refusal(reason, host: request.url.host, address: address) }
        return false
    }

    /// Records a phase before the request is sent. A repetition on another connection does not change the phase.
    fileprivate func note(_ phase: TransferProgress.Phase) {
        if !hasStarted { progress.phase = phase }
    }

    /// Begins a lookup.
    ///
    /// - Returns: Whether the name may be looked up.
    fileprivate func beginLookup() -> Bool {
        guard mayLookUp else {
            let seconds = OpenLookups.lifetime.components.seconds
            fault = BridgeError(
                .httpDNS,
                "\(OpenLookups.maximum) DNS lookups of this user had no answer in the last \(seconds) s; "
                    + "check this machine's resolver", data: ["started": false], isTransient: true)
            return false
        }
        note(.resolving)
        return true
    }

    fileprivate func noteConnected() {
        // A refused candidate address does not matter if another one was reached.
        fault = nil
        isActive = true
        attempts += 1
        progress.phase = request.body == nil ? .waiting : .sending
    }

    fileprivate func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        isActive = true
        return doing { () throws(BridgeError) in
            guard let head = try headers.take(line) else { return }
            try begin(head)
        }
    }

    private func begin(_ head: ResponseHead) throws(BridgeError) {
        progress.phase = .receiving
        progress.of = head.headers.first(named: "Content-Length").flatMap { Int64($0) }
        let hasBody = request.method != "HEAD" && head.status != 204 && head.status != 304
        var head = head
        head.isBodyAsSent = hasBody && request.keepsCoding?(head) == true
        isDropping = request.dropsRedirects && head.isRedirect && !head.isBodyAsSent
        // The receiver of an undecoded body decodes, limits and checks it.
        let isCounted = !isDropping && hasBody && !head.isBodyAsSent
        pipeline = try BodyPipeline(
            isCounted ? head.headers : HeaderList(),
            maximumBytes: head.isBodyAsSent ? FetchSettings.bodyRange.upperBound : request.maximumBodyBytes,
            integrity: isDropping || head.isBodyAsSent ? nil : request.integrity)
        channel.put(head)
        hasNews = true
    }

    fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> Intake {
        guard let pipeline else { return .refused }
        if isDropping { return drop(bytes.count) }
        // Bytes that were fed before are passed on first.
        guard drain() else { return fault == nil ? .full : .refused }
        isActive = true
        progress.received += Int64(bytes.count)
        if pipeline.isPlain {
            _ = doing { () throws(BridgeError) in
                try pipeline.pass(bytes)
                try put(bytes)
            }
        } else {
            let isTaken = doing { () throws(BridgeError) in try pipeline.feed(bytes) }
            _ = isTaken && drain()
        }
        return fault == nil ? .taken : .refused
    }

    /// Drops bytes of a redirect's body. A short body is read to its end, so that its connection can be used again.
    private func drop(_ count: Int) -> Intake {
        progress.received += Int64(count)
        return progress.received <= 64 << 10 ? .taken : .refused
    }

    /// Passes on the bytes that the pipeline holds.
    ///
    /// - Returns: Whether the pipeline is empty.
    func drain() -> Bool {
        guard let pipeline else { return true }
        while checkRoom() {
            var isEmpty = false
            let isGood = doing { () throws(BridgeError) in
                guard let bytes = try pipeline.next() else {
                    isEmpty = true
                    return
                }
                try bytes.withUnsafeBytes { bytes in
                    Result { () throws(BridgeError) in try put(bytes) }
                }.get()
            }
            if isEmpty || !isGood { return isGood }
        }
        isReceivingPaused = true
        return false
    }

    /// Writes the body into a pipe from now on, beginning with the bytes that wait for the reader.
    func pour(into pipe: Int32) {
        outlet = PipeOutlet(pipe)
        // Bytes that do not fit into the pipe are drained before the body continues.
        isReceivingPaused = true
        _ = doing { () throws(BridgeError) in
            for bytes in channel.takeAll() {
                try bytes.withUnsafeBytes { bytes in
                    Result { () throws(BridgeError) in try put(bytes) }
                }.get()
            }
        }
    }

    /// Returns whether the reader or its pipe accepts more bytes.
    private func checkRoom() -> Bool {
        guard outlet != nil else { return channel.checkRoom() }
        return doing { () throws(BridgeError) in try outlet?.writeRest() } && outlet?.isBlocked == false
    }

    /// Passes on bytes of the body.
    private func put(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        if outlet != nil { return try outlet!.put(bytes) }  // `!`: checked above
        channel.put(bytes)
        hasNews = true
    }

    fileprivate func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body = request.body else { return 0 }
        isActive = true
        switch body.next(upTo: buffer.count) {
        case .bytes(let bytes):
            buffer.copyBytes(from: bytes)
            progress.sent += Int64(bytes.count)
            return bytes.count
        case .wait:
            isSendingPaused = true
            return ccurl_read_pause
        case .end:
            if progress.phase == .sending { progress.phase = .waiting }
            return 0
        case .failure(let error):
            fault = error
            return ccurl_read_abort
        }
    }

    /// Runs an operation, and records its error in ``fault``.
    private func doing(_ body: () throws(BridgeError) -> Void) -> Bool {
        do throws(BridgeError) {
            try body()
            return true
        } catch {
            fault = error
            return false
        }
    }
}
