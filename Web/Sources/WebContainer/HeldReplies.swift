internal import WebKitViews

/// The replies to a document's porter that wait for lines, the oldest first. The bridge limits their number.
@MainActor
struct HeldReplies {
    /// A box, because an array cannot contain noncopyable values.
    private final class Box {
        private var reply: ScriptReply?

        init(_ reply: consuming ScriptReply) { self.reply = consume reply }

        func answer(_ lines: [UInt8]) { reply.take()?.answer(lines) }
    }

    private var boxes: [Box] = []

    /// Adds a reply.
    mutating func hold(_ reply: consuming ScriptReply) { boxes.append(Box(reply)) }

    /// Answers the oldest reply with lines, or with none.
    mutating func answerOldest(_ lines: [UInt8]) {
        guard !boxes.isEmpty else { return }
        boxes.removeFirst().answer(lines)
    }

    /// Rejects all replies.
    mutating func refuseAll() { boxes = [] }
}
