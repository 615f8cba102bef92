/// The posts of pages that wait for a later turn of the main loop, limited for each page. A plain value.
struct WaitingPosts<Post> {
    /// The posts of one page.
    private struct Queue {
        private var posts: [(post: Post, bytes: Int)?] = []
        /// The index of the oldest post; those before it have been taken.
        private var first = 0
        private(set) var bytes = 0

        var count: Int { posts.count - first }

        mutating func add(_ post: Post, bytes: Int) {
            posts.append((post, bytes))
            self.bytes += bytes
        }

        mutating func take() -> Post? {
            guard first < posts.count, let (post, bytes) = posts[first] else { return nil }
            posts[first] = nil
            first += 1
            self.bytes -= bytes
            // The places of taken posts are removed when they are half of all, so that each post is moved at most once
            // on average.
            if first * 2 > posts.count {
                posts.removeFirst(first)
                first = 0
            }
            return post
        }
    }

    /// The limits of one page's waiting posts; beyond them, its oldest post must be taken.
    static var maximumCount: Int { 2048 }
    static var maximumBytes: Int { 1 << 20 }

    private var queues: [Int: Queue] = [:]
    /// The pages whose posts wait, the next one first.
    private var order: [Int] = []

    /// Whether no post waits.
    var isEmpty: Bool { order.isEmpty }

    /// Whether no post of a page waits.
    func isEmpty(of page: Int) -> Bool { queues[page] == nil }

    /// Whether there is no room for another post of a page.
    func isFull(of page: Int, for bytes: Int) -> Bool {
        guard let queue = queues[page] else { return false }
        return queue.count >= Self.maximumCount || queue.bytes + bytes > Self.maximumBytes
    }

    /// Queues a post after the others of its page.
    mutating func add(_ post: Post, of page: Int, bytes: Int) {
        if queues[page] == nil { order.append(page) }
        queues[page, default: Queue()].add(post, bytes: bytes)
    }

    /// Takes the oldest post of the page whose turn it is; the next turn belongs to another page.
    mutating func takeNext() -> Post? {
        guard let page = order.first, let post = take(of: page) else { return nil }
        if order.first == page { order.append(order.removeFirst()) }
        return post
    }

    /// Takes the oldest post of a page.
    mutating func take(of page: Int) -> Post? {
        // In place: a copy would take time in proportion to the number of waiting posts.
        let post = queues[page]?.take()
        if queues[page]?.count == 0 {
            queues[page] = nil
            order.removeAll { $0 == page }
        }
        return post
    }
}
