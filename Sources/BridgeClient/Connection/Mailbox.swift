import BridgeJSON
import EventLoop

/// A bounded queue of values from the loop to a Swift task, which takes them one by one. Beyond its capacity the oldest
/// are dropped.
@LoopActor
final class Mailbox<Element: Sendable> {
    private let capacity: Int
    /// Makes the element that reports how many were dropped; `nil` if drops are not reported.
    private let reportDropped: (@Sendable (Int) -> Element)?
    private var elements: [Element] = []
    /// The number of taken elements at the front of `elements`. They are removed from time to time.
    private var takenCount = 0
    private var droppedCount = 0
    private var end: Result<Void, BridgeError>?
    private let readers = AsyncSignal<Element>()

    init(capacity: Int, reportDropped: (@Sendable (Int) -> Element)? = nil) {
        self.capacity = capacity
        self.reportDropped = reportDropped
    }

    func put(_ element: Element) {
        guard end == nil else { return }
        if !readers.isEmpty { return readers.resumeFirst(element) }
        if elements.count - takenCount == capacity {
            _ = takeFirst()
            droppedCount += 1
        }
        elements.append(element)
    }

    /// Ends the mailbox. The reader still gets the queued elements, then the end.
    func finish(_ end: Result<Void, BridgeError>) {
        guard self.end == nil else { return }
        self.end = end
        readers.resumeAll(nil)
    }

    /// Returns the next element; `nil` at the end, and if the Swift task is cancelled.
    func next() async throws(BridgeError) -> Element? {
        if droppedCount > 0, let reportDropped {
            defer { droppedCount = 0 }
            return reportDropped(droppedCount)
        }
        if elements.count > takenCount { return takeFirst() }
        if end == nil, let element = await readers.wait() { return element }
        try end?.get()
        return nil
    }

    private func takeFirst() -> Element {
        let element = elements[takenCount]
        takenCount += 1
        if takenCount * 2 > elements.count + 16 {
            elements.removeFirst(takenCount)
            takenCount = 0
        }
        return element
    }
}
