import Glibc

/// Work that the loop thread runs once.
///
/// Unchecked because a raw argument is not `Sendable`: the caller of `post` is responsible for it, as `EventLoop.post`
/// states.
enum Work: @unchecked Sendable {  // the caller of `post` is responsible for the argument
    case actorJob(UnownedJob)
    case taskJob(UnownedJob)
    case closure(PostedClosure)
    /// A function, its argument and the holder for which it runs (``LoopHolder``).
    case function(@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?, UInt32)
}

/// A closure for the loop thread. It is in a struct, because a closure that is passed to a generic function is wrapped
/// in another one, which allocates.
struct PostedClosure: Sendable {
    let body: @LoopActor @Sendable () -> Void
}

/// A FIFO queue in a ring buffer that only grows, so that the steady state needs no allocation. One thread.
struct WorkQueue {
    private var slots: UnsafeMutablePointer<Work>
    private var capacity = 256
    private var first = 0
    private(set) var count = 0

    /// Creates an empty queue. It exists as long as the process, like the loop: there is no `deinit` to free the slots.
    init() {
        slots = .allocate(capacity: capacity)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ work: consuming Work) {
        if count == capacity { grow() }
        (slots + ((first + count) & (capacity - 1))).initialize(to: work)
        count += 1
    }

    /// Removes and returns the first work. The queue must not be empty.
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

/// The work that other threads enqueue for the loop thread. Exists as long as the process.
///
/// It uses a pthread mutex instead of `Mutex`: the thread sanitizer supports it, and reports every use of `Mutex` as a
/// race.
struct Inbox {
    private struct Contents {
        var work: [Work] = []
        /// Whether the loop has been woken and has not taken the work yet.
        var isAnnounced = false
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let contents = UnsafeMutablePointer<Contents>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        contents.initialize(to: Contents())
    }

    /// Adds work. Returns whether the loop must be woken, which is once per batch. Any thread.
    func add(_ work: Work) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        contents.pointee.work.append(work)
        defer { contents.pointee.isAnnounced = true }
        return !contents.pointee.isAnnounced
    }

    /// Takes all work, and leaves the empty `spare` in its place, so that both arrays keep their capacity.
    func take(into spare: inout [Work]) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        swap(&contents.pointee.work, &spare)
        contents.pointee.isAnnounced = false
    }
}
