import CLibuv

/// A libuv handle, which keeps its owner alive until libuv no longer uses it. The owner is retained in `data` and
/// released only in the close callback.
@LoopActor
struct LoopHandle<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    /// Allocates the handle and initialises it with `initialise`. Frees it again if that fails.
    init(
        _ operation: StaticString, _ initialise: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Int32
    ) throws(SystemError) {
        raw = .allocate(capacity: 1)
        let status = initialise(Loop.shared.raw, raw)
        if status < 0 {
            raw.deallocate()
            throw SystemError(code: -status, operation: operation.description)
        }
        asHandle.pointee.data = nil
    }

    /// Allocates a handle that a later call initialises, such as `uv_spawn`. It must be closed even if that call fails.
    init(zeroed: Void) {
        raw = .allocate(capacity: 1)
        UnsafeMutableRawPointer(raw).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Raw>.size)
    }

    /// Retains `owner` until the close callback.
    func retain(_ owner: AnyObject) {
        asHandle.pointee.data = Unmanaged.passRetained(owner).toOpaque()
    }

    /// Closes the handle. To be called once. Its memory is freed and the owner is released when libuv no longer uses
    /// it, later in this turn.
    func close() {
        uv_close(asHandle) { handle in
            // libuv passes back the handle that it received: never nil.
            guard let handle else { return }
            if let owner = handle.pointee.data { Unmanaged<AnyObject>.fromOpaque(owner).release() }
            UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    /// The handle as a `uv_handle_t`, with whose fields every libuv handle starts.
    private var asHandle: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }
}

/// Returns the owner of a handle in a callback from libuv; `nil` if it has none. Begins the turn.
@inline(__always)
func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
    Loop.shared.beginTurn()
    // Valid, and of that type: `retain` stored it, and it is released only when the handle is closed.
    return data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
}
