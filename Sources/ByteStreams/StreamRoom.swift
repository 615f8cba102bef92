/// The flow control of a writer: the number of bytes that it may send, from its writes and their answers.
package struct StreamRoom: Sendable {
    /// The bytes in one message: its line stays below 32 KiB, which the daemon handles in one piece.
    private static let standardPieceBytes = 24_000
    /// An upper bound for the rest of the message around a piece.
    private static let envelopeBytes = 256
    /// The maximum number of unanswered writes: half of the daemon's limit.
    private static let maximumUnanswered = 32

    private let pieceBytes: Int
    /// The maximum number of unanswered bytes, from the last answer.
    private var roomBytes: Int
    private var unanswered = 0
    private var unansweredBytes = 0

    /// - Parameters:
    ///   - bytes: The room that the creator of the stream received; 0 if it is unknown until the first answer.
    ///   - messageBytes: The maximum length of a message, 1 KiB or more.
    package init(bytes: Int, messageBytes: Int) {
        roomBytes = bytes
        pieceBytes = max(1, min(Self.standardPieceBytes, (messageBytes - Self.envelopeBytes) / 4 * 3))
    }

    /// Whether the room is unknown until the first answer.
    package var isUnknown: Bool { roomBytes == 0 }

    /// Returns how many of `wanted` bytes may be sent now; 0 if an answer must arrive first.
    package func size(of wanted: Int) -> Int {
        let piece = min(wanted, pieceBytes)
        let room = roomBytes - unansweredBytes
        if unanswered < Self.maximumUnanswered, room >= piece { return piece }
        return unanswered == 0 ? room : 0
    }

    /// Records a write of `bytes` bytes.
    package mutating func noteSent(_ bytes: Int) {
        unanswered += 1
        unansweredBytes += bytes
    }

    /// Records the answer to the oldest write, which had `bytes` bytes.
    package mutating func noteAnswer(of bytes: Int, roomBytes: Int) {
        unanswered -= 1
        unansweredBytes -= bytes
        self.roomBytes = roomBytes
    }
}
