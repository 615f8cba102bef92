internal import MainLoop
internal import WebKitViews

/// Takes the posts of pages as they come, up to a share of each turn of the main loop. Those beyond wait for later
/// turns, one of each page after the other's, so that the loop goes on between: windows are drawn, and other pages are
/// answered.
@MainActor
final class PostTurns {
    /// A post that waits.
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

    /// How long posts are taken in a turn as they come, and then those that wait.
    private static let share = Duration.milliseconds(4)
    /// The loop does what else there is before it comes to those that wait.
    private static let pause = Duration.milliseconds(1)

    private var waiting = WaitingPosts<Post>()
    private var source: LoopSource?
    /// The turn in which posts were taken last, and how long that took.
    private var turn = 0
    private var spent = Duration.zero

    /// Takes a post, now or in its turn.
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
        // A page that posts faster than it has turns takes its own: what waits is bounded.
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

    /// Takes what a page has waiting: its document is about to be another one.
    func finish(_ page: Page) {
        while let post = waiting.take(of: page.number) { post.take() }
    }
}
