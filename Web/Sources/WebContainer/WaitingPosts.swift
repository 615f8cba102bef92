/// The posts of pages that wait for another turn of the main loop, with bounds for each page. A plain value.
struct WaitingPosts<Post> {
    /// The posts of one page.
    private struct Queue {
        private var posts: [(post: Post, bytes: Int)?] = []
        /// Where the oldest is; those before it are taken.
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
            // Places of posts that are taken are given back when they are half of all: once for each post.
            if first * 2 > posts.count {
                posts.removeFirst(first)
                first = 0
            }
            return post
        }
    }

    /// What may wait of one page; beyond, its oldest post has to be taken.
    static var maximumCount: Int { 2048 }
    static var maximumBytes: Int { 1 << 20 }

    private var queues: [Int: Queue] = [:]
    /// The pages whose posts wait, the next one first.
    private var order: [Int] = []

    /// Whether none waits.
    var isEmpty: Bool { order.isEmpty }

    /// Whether none of a page waits.
    func isEmpty(of page: Int) -> Bool { queues[page] == nil }

    /// Whether there is no room for another post of a page.
    func isFull(of page: Int, for bytes: Int) -> Bool {
        guard let queue = queues[page] else { return false }
        return queue.count >= Self.maximumCount || queue.bytes + bytes > Self.maximumBytes
    }

    /// Has a post wait, behind those of its page.
    mutating func add(_ post: Post, of page: Int, bytes: Int) {
        if queues[page] == nil { order.append(page) }
        queues[page, default: Queue()].add(post, bytes: bytes)
    }

    /// Takes the oldest post of the page whose turn it is; the next turn is another page's.
    mutating func takeNext() -> Post? {
        guard let page = order.first, let post = take(of: page) else { return nil }
        if order.first == page { order.append(order.removeFirst()) }
        return post
    }

    /// Takes the oldest post of a page.
    mutating func take(of page: Int) -> Post? {
        // In place: a copy would take time by the number of those that wait.
        let post = queues[page]?.take()
        if queues[page]?.count == 0 {
            queues[page] = nil
            order.removeAll { $0 == page }
        }
        return post
    }
}
