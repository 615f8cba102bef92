import Foundation
import GRDB
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("An interruption")
struct InterruptionTests {
    /// The thread sanitizer detects a failure. Without it, using the database during its close rarely changes a result.
    @Test("does not use a database that is being closed")
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
