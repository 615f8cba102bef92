import Foundation
import GRDB
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("An interruption")
struct InterruptionTests {
    /// Seen by the thread sanitizer: that the database is used while it is closed changes no result, most of the time.
    @Test("does not reach into a database that is being closed")
    func closing() throws {
        let queue = try DatabaseQueue()
        let interruption = Interruption()
        let isInside = Mutex(false)
        let hasFired = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isInside.withLock({ $0 }) { sched_yield() }
            interruption.fire()
            hasFired.signal()
        }
        try interruption.during(queue) { _ in
            isInside.withLock { $0 = true }
            while (try? interruption.check()) != nil { sched_yield() }
        }
        try queue.close()
        hasFired.wait()
        #expect(throws: BridgeError.self) { try interruption.check() }
    }
}
