/// How much a writer may send, by the order of its writes and of their answers.
package struct StreamRoom: Sendable {
    /// What goes into one message: its line stays below 32 KiB, which the daemon handles in one piece.
    private static let standardPieceBytes = 24_000
    /// What stands around a piece in its message, and more.
    private static let envelopeBytes = 256
    /// How many writes may be unanswered: half of what the daemon allows.
    private static let maximumUnanswered = 32

    private let pieceBytes: Int
    /// How many bytes may be unanswered: what the last answer said.
    private var roomBytes: Int
    private var unanswered = 0
    private var unansweredBytes = 0

    /// - Parameters:
    ///   - bytes: What the maker of the stream got; 0: not known, the first answer says it.
    ///   - messageBytes: How long a message may be, 1 KiB or more.
    package init(bytes: Int, messageBytes: Int) {
        roomBytes = bytes
        pieceBytes = max(1, min(Self.standardPieceBytes, (messageBytes - Self.envelopeBytes) / 4 * 3))
    }

    /// Whether the first answer is to come.
    package var isUnknown: Bool { roomBytes == 0 }

    /// How many of so many bytes may be sent now; 0: an answer has to come first.
    package func size(of wanted: Int) -> Int {
        let piece = min(wanted, pieceBytes)
        let room = roomBytes - unansweredBytes
        if unanswered < Self.maximumUnanswered, room >= piece { return piece }
        return unanswered == 0 ? room : 0
    }

    /// So many bytes were sent in a write.
    package mutating func noteSent(_ bytes: Int) {
        unanswered += 1
        unansweredBytes += bytes
    }

    /// The oldest write, of so many bytes, was answered.
    package mutating func noteAnswer(of bytes: Int, roomBytes: Int) {
        unanswered -= 1
        unansweredBytes -= bytes
        self.roomBytes = roomBytes
    }
}
