import Glibc

/// Something for the loop thread to run once.
///
/// Unchecked because a raw argument is not `Sendable`: the caller of `post` answers for it, as `EventLoop.post` says.
enum Work: @unchecked Sendable {  // the caller of `post` answers for the argument
    case actorJob(UnownedJob)
    case taskJob(UnownedJob)
    case closure(PostedClosure)
    /// With the holder that it runs as (``LoopHolder``).
    case function(@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?, UInt32)
}

/// A closure for the loop thread. In a struct, because a closure that is the argument of a generic function is wrapped
/// in another one, which allocates.
struct PostedClosure: Sendable {
    let body: @LoopActor @Sendable () -> Void
}

/// First in, first out: a ring that only ever grows, so that the steady state allocates nothing. One thread.
struct WorkQueue {
    private var slots: UnsafeMutablePointer<Work>
    private var capacity = 256
    private var first = 0
    private(set) var count = 0

    /// Lives as long as the loop, which is as long as the process: there is no `deinit` to free the slots.
    init() {
        slots = .allocate(capacity: capacity)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ work: consuming Work) {
        if count == capacity { grow() }
        (slots + ((first + count) & (capacity - 1))).initialize(to: work)
        count += 1
    }

    /// The queue is not empty.
    mutating func removeFirst() -> Work {
        let work = (slots + first).move()
        first = (first + 1) & (capacity - 1)
        count -= 1
        return work
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Work>.allocate(capacity: capacity * 2)
        for index in 0..<count {
            (larger + index).initialize(to: (slots + ((first + index) & (capacity - 1))).move())
        }
        slots.deallocate()
        slots = larger
        capacity *= 2
        first = 0
    }
}

/// What other threads hand to the loop thread. Lives as long as the process.
///
/// A mutex of pthread's rather than `Mutex`: the thread sanitizer knows it, and reports every use of the other as a
/// race.
struct Inbox {
    private struct Contents {
        var work: [Work] = []
        /// The loop has been woken and has not looked yet.
        var isAnnounced = false
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let contents = UnsafeMutablePointer<Contents>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        contents.initialize(to: Contents())
    }

    /// Adds work. True where the loop must be woken: once per batch. Any thread.
    func add(_ work: Work) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        contents.pointee.work.append(work)
        defer { contents.pointee.isAnnounced = true }
        return !contents.pointee.isAnnounced
    }

    /// Takes everything, leaving the empty `spare` in its place so that both arrays keep their room.
    func take(into spare: inout [Work]) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        swap(&contents.pointee.work, &spare)
        contents.pointee.isAnnounced = false
    }
}
