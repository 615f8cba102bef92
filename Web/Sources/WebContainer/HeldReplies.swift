internal import WebKitViews

/// The replies to posts of a document's porter that wait for lines, the oldest first. The bridge bounds their number.
@MainActor
struct HeldReplies {
    /// An array holds no values that cannot be copied.
    private final class Box {
        private var reply: ScriptReply?

        init(_ reply: consuming ScriptReply) { self.reply = consume reply }

        func answer(_ lines: [UInt8]) { reply.take()?.answer(lines) }
    }

    private var boxes: [Box] = []

    /// Adds one.
    mutating func hold(_ reply: consuming ScriptReply) { boxes.append(Box(reply)) }

    /// Fulfils the oldest with lines, or with none.
    mutating func answerOldest(_ lines: [UInt8]) {
        guard !boxes.isEmpty else { return }
        boxes.removeFirst().answer(lines)
    }

    /// Rejects all.
    mutating func refuseAll() { boxes = [] }
}
