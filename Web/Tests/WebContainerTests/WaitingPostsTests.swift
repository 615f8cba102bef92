import Testing

@testable import WebContainer

@Suite("Posts of pages that wait for a turn") struct WaitingPostsTests {
    private var waiting = WaitingPosts<String>()

    private mutating func takeAll() -> [String] {
        var taken: [String] = []
        while let post = waiting.takeNext() { taken.append(post) }
        return taken
    }

    @Test("pages take turns with one post each, and the posts of a page keep their order") mutating func order() {
        for post in ["a1", "a2", "a3"] { waiting.add(post, of: 1, bytes: 2) }
        waiting.add("b1", of: 2, bytes: 2)
        waiting.add("c1", of: 3, bytes: 2)
        waiting.add("b2", of: 2, bytes: 2)
        #expect(takeAll() == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(waiting.isEmpty)
    }

    @Test(
        "a page has room for a maximum of posts and bytes, whatever other pages have waiting") mutating func bounds()
    {
        for number in 0..<WaitingPosts<String>.maximumCount {
            #expect(!waiting.isFull(of: 1, for: 1))
            waiting.add("\(number)", of: 1, bytes: 1)
        }
        #expect(waiting.isFull(of: 1, for: 1) && !waiting.isFull(of: 2, for: 1))
        waiting.add("long", of: 2, bytes: WaitingPosts<String>.maximumBytes)
        #expect(waiting.isFull(of: 2, for: 1))
        _ = waiting.take(of: 2)
        #expect(!waiting.isFull(of: 2, for: 1) && waiting.isEmpty(of: 2))
    }

    @Test("a page's posts can be taken out of turn, and the other pages keep their turns") mutating func outOfTurn() {
        for (page, post) in [(1, "a1"), (2, "b1"), (1, "a2"), (3, "c1")] { waiting.add(post, of: page, bytes: 2) }
        #expect(waiting.take(of: 1) == "a1" && waiting.take(of: 1) == "a2" && waiting.take(of: 1) == nil)
        #expect(takeAll() == ["b1", "c1"])
    }

    @Test("posts keep their order while others are added and taken, through all the room") mutating func longRun() {
        var (added, taken) = (0, 0)
        // First more posts are added than taken, until there is no room; then more are taken than added.
        let total = 3 * WaitingPosts<String>.maximumCount
        while taken < total {
            let (coming, going) = added < total ? (3, 1) : (0, 3)
            for _ in 0..<coming where !waiting.isFull(of: 1, for: 1) {
                waiting.add("\(added)", of: 1, bytes: 1)
                added += 1
            }
            for _ in 0..<going where !waiting.isEmpty {
                #expect(waiting.takeNext() == "\(taken)")
                taken += 1
            }
        }
        #expect(taken == added && waiting.isEmpty)
        #expect(!waiting.isFull(of: 1, for: WaitingPosts<String>.maximumBytes))
    }
}
