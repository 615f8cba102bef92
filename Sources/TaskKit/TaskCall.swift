internal import CTaskPlugin

/// The session, the deadline and the parent of a call that the plugin makes.
struct BridgeRoute: Sendable {
    /// The call on whose behalf this one is made; 0 for a call in the plugin's own name.
    var parent: trestle_call
    var session: SessionID?
    var timeout: Timeout
}

/// A call that the plugin makes to a task.
struct TaskCall: Sendable {
    let task: String
    let options: [UInt8]
    let route: BridgeRoute

    init(_ task: String, _ options: [UInt8], _ route: BridgeRoute) {
        (self.task, self.options, self.route) = (task, options, route)
    }

    /// Makes the call and waits for its result. Cancelling the Swift task cancels the call.
    ///
    /// - Parameter onProgress: Receives the progress, on the loop thread.
    func result(
        _ host: Host, onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) async -> Result<[UInt8], BridgeError> {
        let call = HostCall<[UInt8]>(host, onProgress: onProgress)
        let refusal = "the call of \(task) was not made: its Swift task was already cancelled"
        return await call.outcome(orCancelled: refusal) { call in
            make(host) { outgoing in
                outgoing.context = Unmanaged.passRetained(call).toOpaque()
                // `!` in both closures: the context given above.
                if call.onProgress != nil {
                    outgoing.progress = { context, _, value in
                        Unmanaged<HostCall<[UInt8]>>.fromOpaque(context!).takeUnretainedValue()
                            .onProgress?(value.buffer)
                    }
                }
                outgoing.done = { context, result, error in
                    Unmanaged<HostCall<[UInt8]>>.fromOpaque(context!).takeRetainedValue()
                        .end(error.map { .failure(BridgeError($0)) } ?? .success(Array(result.buffer)))
                }
            }
        }
    }

    /// Makes a call without waiting for its end. Loop thread.
    func notify(_ host: Host) { _ = make(host) { _ in } }

    /// - Parameter complete: Adds the functions that receive its progress and its end.
    private func make(_ host: Host, _ complete: (inout trestle_outgoing_call) -> Void) -> trestle_call {
        var task = task
        return task.withUTF8 { task in
            options.withUnsafeBytes { options in
                var call = trestle_outgoing_call()
                call.size = UInt32(MemoryLayout<trestle_outgoing_call>.size)
                call.abi = TRESTLE_ABI
                call.parent = route.parent
                call.task = trestle_bytes(UnsafeRawBufferPointer(task))
                call.options = trestle_bytes(options)
                call.session = route.session?.rawValue ?? 0
                call.timeout_ns = route.timeout.nanoseconds
                complete(&call)
                return host.call(&call)
            }
        }
    }
}
