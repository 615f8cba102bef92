import CCurl
import Glibc
import HTTPRules
import TaskKit

/// What libcurl calls while a transfer runs, on the network's thread. Each has the transfer as its context.
enum TransferCallbacks {
    /// A line before the body, or behind it.
    static let header: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return 0 }
        return transfer.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
    }

    /// Bytes of the body.
    static let body: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return 0 }
        switch transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
        case .taken: return size * count
        case .full: return ccurl_write_pause
        case .refused: return 0
        }
    }

    /// Asks for bytes of the request's body.
    static let read: ccurl_data_function = { bytes, size, count, context in
        guard let bytes, let transfer = transfer(context) else { return ccurl_read_abort }
        return transfer.giveBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    /// Begins the request's body again: the connection was lost before it was used.
    static let seek: ccurl_seek_function = { context, offset, origin in
        guard let transfer = transfer(context), offset == 0, origin == SEEK_SET,
            transfer.request.body?.rewind() ?? true
        else { return Int32(CURL_SEEKFUNC_FAIL) }
        return Int32(CURL_SEEKFUNC_OK)
    }

    /// The address of a name is looked up; it is not known from before.
    static let resolve: ccurl_resolve_function = { _, _, context in
        guard let transfer = transfer(context), transfer.beginLookup() else { return 1 }
        return 0
    }

    /// Makes a socket for an address, where that may be reached.
    static let socket: ccurl_socket_function = { context, _, target in
        guard let target, let transfer = transfer(context) else { return -1 }
        let (family, kind, number) = (target.pointee.family, target.pointee.socktype, target.pointee.protocol)
        let address = withUnsafePointer(to: &target.pointee.addr) { IPAddress($0) }
        guard transfer.mayReach(address) else { return -1 }
        transfer.note(.connecting)
        return Glibc.socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), number)
    }

    /// The connection is there, and the TLS session is about to be made.
    static let secure: ccurl_secure_function = { _, _, context in
        transfer(context)?.note(.securing)
        return CURLE_OK
    }

    /// A connection is about to carry the request.
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
    /// What became of bytes of the body.
    enum Intake {
        case taken
        case full
        case refused
    }

    fileprivate func mayReach(_ address: IPAddress?) -> Bool {
        // The address of a proxy, which the operator has named.
        if request.proxy != nil { return true }
        guard let reason = request.gate.reason(against: address) else {
            if address?.addressClass == .loopback { triesLoopback = true }
            return true
        }
        if fault == nil { fault = AddressGate.refusal(reason, host: request.url.host, address: address) }
        return false
    }

    /// Notes a phase before the request. Where libcurl sends it again, on another connection, it has been sent.
    fileprivate func note(_ phase: TransferProgress.Phase) {
        if !hasStarted { progress.phase = phase }
    }

    /// - Returns: Whether the name may be looked up.
    fileprivate func beginLookup() -> Bool {
        guard mayLookUp else {
            let seconds = OpenLookups.lifetime.components.seconds
            fault = BridgeError(
                .httpDNS,
                "\(OpenLookups.maximum) names of this user were looked up in the last \(seconds) s without an answer; "
                    + "see the machine's resolver", data: ["started": false], isTransient: true)
            return false
        }
        note(.resolving)
        return true
    }

    fileprivate func noteConnected() {
        // A candidate that was refused does not count where another was reached.
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
        // What takes a body as it was sent decodes, bounds and checks it.
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
        // What was fed before is passed on first.
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

    /// A redirect's body is read so that its connection can be used again, where it is short.
    private func drop(_ count: Int) -> Intake {
        progress.received += Int64(count)
        return progress.received <= 64 << 10 ? .taken : .refused
    }

    /// Passes on what the pipeline holds.
    ///
    /// - Returns: Whether it holds nothing any more.
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

    /// The body goes into a pipe from now on: first what waits for the reader.
    func pour(into pipe: Int32) {
        outlet = PipeOutlet(pipe)
        // What the pipe has no room for is drained before the body goes on.
        isReceivingPaused = true
        _ = doing { () throws(BridgeError) in
            for bytes in channel.takeAll() {
                try bytes.withUnsafeBytes { bytes in
                    Result { () throws(BridgeError) in try put(bytes) }
                }.get()
            }
        }
    }

    /// Whether the reader, or its pipe, takes more.
    private func checkRoom() -> Bool {
        guard outlet != nil else { return channel.checkRoom() }
        return doing { () throws(BridgeError) in try outlet?.writeRest() } && outlet?.isBlocked == false
    }

    /// Passes bytes of the body on.
    private func put(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        if outlet != nil { return try outlet!.put(bytes) }  // `!`: asked before
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

    /// Notes what goes wrong.
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
