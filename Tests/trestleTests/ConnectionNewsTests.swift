import BridgeClient
import BridgeJSON
import Testing

@testable import trestle

struct ConnectionNewsTests {
    private let lost = BridgeError(.sessionClosed, "the connection was lost")

    @Test("A lost connection is reported once for any number of attempts, and its return once")
    func once() {
        var news = ConnectionNews()
        #expect(news.lines(for: .open(nil, isNew: true, refused: [])) == [])
        for attempts in 0..<3 {
            let state = ConnectionState.waiting(reason: lost, attempts: attempts, retryAfter: .seconds(1))
            #expect(news.lines(for: state) == (attempts == 0 ? ["the connection was lost; connecting again"] : []))
        }
        #expect(news.lines(for: .open(nil, isNew: true, refused: [])) == ["connected to the daemon again"])
        #expect(news.lines(for: .closed(lost)) == [])
    }

    @Test("A task that is no longer accepted is reported with the reason")
    func refused() {
        var news = ConnectionNews()
        _ = news.lines(for: .waiting(reason: lost, attempts: 0, retryAfter: .seconds(1)))
        let refusal = RefusedRegistration(task: "scan", error: BridgeError("task.exists", "it belongs to a plugin"))
        #expect(
            news.lines(for: .open(nil, isNew: true, refused: [refusal])) == [
                "connected to the daemon again", "scan is no longer provided: it belongs to a plugin (task.exists)",
            ])
    }
}
