internal import MainLoop
internal import WebKitViews

/// Handles the posts of pages as they arrive, up to a share of each turn of the main loop. Further posts wait for later
/// turns, in which the pages alternate. Between them the loop can draw windows and answer other pages.
@MainActor
final class PostTurns {
    /// A waiting post.
    @MainActor
    private final class Post {
        let page: Page
        let text: [UInt8]
        private var reply: ScriptReply?

        init(_ page: Page, _ text: [UInt8], _ reply: consuming ScriptReply) {
            self.page = page
            self.text = text
            self.reply = consume reply
        }

        func take() {
            guard let reply = reply.take() else { return }
            page.handle(text, reply)
        }
    }

    /// The maximum time for arriving posts in a turn, and for waiting posts in a turn.
    private static let share = Duration.milliseconds(4)
    /// The pause in which the loop does other work before it handles waiting posts.
    private static let pause = Duration.milliseconds(1)

    private var waiting = WaitingPosts<Post>()
    private var source: LoopSource?
    /// The last turn in which posts were handled, and the time that they took.
    private var turn = 0
    private var spent = Duration.zero

    /// Handles a post, now or in a later turn.
    func take(_ page: Page, _ text: [UInt8], _ reply: consuming ScriptReply) {
        if MainLoop.turnNumber != turn {
            turn = MainLoop.turnNumber
            spent = .zero
        }
        guard spent < Self.share, waiting.isEmpty(of: page.number) else { return wait(page, text, reply) }
        let start = ContinuousClock.now
        page.handle(text, reply)
        spent += start.duration(to: .now)
    }

    private func wait(_ page: Page, _ text: [UInt8], _ reply: consuming ScriptReply) {
        // If a page posts faster than its turns allow, its oldest posts are handled now: the queue is bounded.
        while waiting.isFull(of: page.number, for: text.count), let oldest = waiting.take(of: page.number) {
            oldest.take()
        }
        waiting.add(Post(page, text, reply), of: page.number, bytes: text.count)
        schedule()
    }

    private func schedule() {
        guard source == nil, !waiting.isEmpty else { return }
        source = .timer(after: Self.pause, as: "posts") { [weak self] in self?.serve() }
    }

    private func serve() {
        source = nil
        let start = ContinuousClock.now
        repeat {
            guard let post = waiting.takeNext() else { return }
            post.take()
        } while start.duration(to: .now) < Self.share
        schedule()
    }

    /// Handles all waiting posts of a page because its document is about to change.
    func finish(_ page: Page) {
        while let post = waiting.take(of: page.number) { post.take() }
    }
}
