import CLibuv

/// Runs blocking work on libuv's threads. There are four, shared by all code, so the work must not wait for long. A
/// process that ends with `exit` waits for the work on them.
public enum BlockingWork {
    /// Runs `body` on such a thread. Any thread.
    public static func run<T: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> T) async throws(E) -> T {
        let result: Result<T, E> = await withCheckedContinuation { continuation in
            let task = ClosureWork {
                do throws(E) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            // The pointer is the one passed below. It is retained until `done`, which is called once and last.
            run(
                { Unmanaged<ClosureWork>.fromOpaque($0.unsafelyUnwrapped).takeUnretainedValue().body() },
                done: { Unmanaged<ClosureWork>.fromOpaque($0.unsafelyUnwrapped).release() },
                Unmanaged.passRetained(task).toOpaque())
        }
        return try result.get()
    }

    /// Runs `work(argument)` on such a thread, then `done(argument)` on the loop thread, after the functions that
    /// `work` has posted. Any thread.
    ///
    /// - Parameter holder: The value of ``LoopHolder`` while `done` runs.
    public static func run(
        _ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
        done: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer?,
        as holder: UInt32 = 0
    ) {
        // libuv takes work from the loop thread only.
        EventLoop.post(FunctionWork.queue, FunctionWork.make(work, done, argument, holder))
    }

    /// A request of libuv with its functions; freed before `done` is called.
    private struct FunctionWork {
        var raw = uv_work_t()
        var work: @convention(c) (UnsafeMutableRawPointer?) -> Void
        var done: @convention(c) (UnsafeMutableRawPointer?) -> Void
        var argument: UnsafeMutableRawPointer?
        var holder: UInt32

        static func make(
            _ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
            _ done: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, _ argument: UnsafeMutableRawPointer?,
            _ holder: UInt32
        ) -> UnsafeMutableRawPointer {
            let request = UnsafeMutablePointer<FunctionWork>.allocate(capacity: 1)
            request.initialize(to: FunctionWork(work: work, done: done, argument: argument, holder: holder))
            return UnsafeMutableRawPointer(request)
        }

        /// Queues a request. Loop thread. The pointer is the result of `make`, never nil.
        static let queue: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
            // `raw` is the first field: a pointer to the request is one to it.
            let raw = pointer.unsafelyUnwrapped.assumingMemoryBound(to: uv_work_t.self)
            require(uv_queue_work(Loop.shared.raw, raw, worked, finished), "uv_queue_work")
        }

        private static let worked: uv_work_cb = { raw in
            let request = of(raw).pointee
            request.work(request.argument)
        }

        /// libuv reports finished work before posted functions, even those that the work itself has posted.
        private static let finished: uv_after_work_cb = { raw, _ in
            let pointer = of(raw)
            let (done, argument, holder) = (pointer.pointee.done, pointer.pointee.argument, pointer.pointee.holder)
            pointer.deinitialize(count: 1)
            pointer.deallocate()
            Loop.shared.enqueueBehindInbox(.function(done, argument, holder))
        }

        /// Returns the request of a libuv pointer. libuv passes back the pointer that it received: never nil, and the
        /// first field of a request.
        private static func of(_ raw: UnsafeMutablePointer<uv_work_t>?) -> UnsafeMutablePointer<FunctionWork> {
            UnsafeMutableRawPointer(raw.unsafelyUnwrapped).assumingMemoryBound(to: FunctionWork.self)
        }
    }

    /// A closure that a C pointer refers to: retained when it is queued, released after it has run.
    private final class ClosureWork: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }
}
