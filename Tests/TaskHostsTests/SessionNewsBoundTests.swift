import BridgeJSON
import TaskRuntime
import Testing

@testable import TaskHosts

@Suite("The sessions whose ends a plugin process gets")
struct SessionNewsBoundTests {
    @Test("are forgotten if they ended while nothing was reported: at most twice as many as are open")
    func bound() {
        var news = SessionNews()
        news.setScope("callers")
        for session in UInt64(1)...10_000 {
            news.noteCall(of: session) { $0 > 9_950 || $0 == session }
            #expect(news.callers.count <= 128)
        }
        let isReported = news.includes(.closed, of: 10_000)
        let isReportedTwice = news.includes(.closed, of: 10_000)
        #expect(isReported && !isReportedTwice)
    }
}
