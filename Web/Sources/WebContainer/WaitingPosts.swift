/// The posts of pages that wait for another turn of the main loop, with bounds for each page. A plain value.
struct WaitingPosts<Post> {
    /// The posts of one page.
    private struct Queue {
        var posts: [(post: Post, bytes: Int)] = []
        var bytes = 0
    }

    /// What may wait of one page; beyond, its oldest post has to be taken.
    static var maximumCount: Int { 128 }
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
        return queue.posts.count >= Self.maximumCount || queue.bytes + bytes > Self.maximumBytes
    }

    /// Has a post wait, behind those of its page.
    mutating func add(_ post: Post, of page: Int, bytes: Int) {
        if queues[page] == nil { order.append(page) }
        queues[page, default: Queue()].posts.append((post, bytes))
        queues[page]?.bytes += bytes
    }

    /// Takes the oldest post of the page whose turn it is; the next turn is another page's.
    mutating func takeNext() -> Post? {
        guard let page = order.first, let post = take(of: page) else { return nil }
        if order.first == page { order.append(order.removeFirst()) }
        return post
    }

    /// Takes the oldest post of a page.
    mutating func take(of page: Int) -> Post? {
        guard var queue = queues[page], !queue.posts.isEmpty else { return nil }
        let (post, bytes) = queue.posts.removeFirst()
        queue.bytes -= bytes
        queues[page] = queue.posts.isEmpty ? nil : queue
        if queue.posts.isEmpty { order.removeAll { $0 == page } }
        return post
    }
}
