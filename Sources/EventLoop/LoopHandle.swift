import CLibuv

/// A libuv handle and its owner, which the handle keeps alive until libuv is done with it: the owner is retained into
/// `data` and released in the close callback, and nowhere else.
@LoopActor
struct LoopHandle<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    /// Allocates the handle and lets `start` initialise it. A handle that does not come to life is freed again.
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

    /// A handle that a later call initialises, such as `uv_spawn`, which wants it closed even where it fails.
    init(zeroed: Void) {
        raw = .allocate(capacity: 1)
        UnsafeMutableRawPointer(raw).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Raw>.size)
    }

    /// From now until the close callback the handle holds on to `owner`.
    func retain(_ owner: AnyObject) {
        asHandle.pointee.data = Unmanaged.passRetained(owner).toOpaque()
    }

    /// Once only. The memory goes, and the owner is released, when libuv has let go of the handle, later in this turn.
    func close() {
        uv_close(asHandle) { handle in
            // libuv hands back what it was given: never nil.
            guard let handle else { return }
            if let owner = handle.pointee.data { Unmanaged<AnyObject>.fromOpaque(owner).release() }
            UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    /// Every libuv handle starts with the fields of `uv_handle_t`.
    private var asHandle: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }
}

/// The owner of a handle, in a callback from libuv. Starts the turn's clock.
@inline(__always)
func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
    Loop.shared.beginTurn()
    // Valid, and of that type: `retain` put it there, and lets go of it with the handle.
    return data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
}
