import Testing
import WebContainer
import WebKitViews

@Suite("Loads that the engine ends by itself") struct LoadRetriesTests {
    private func failure(_ domain: String, _ number: Int) -> LoadFailure {
        LoadFailure(uri: "https://a.test/", domain: domain, number: number, message: "", isCancelled: false)
    }

    @Test("begin again, at most three times in succession")
    func succession() {
        var retries = LoadRetries()
        for _ in 0..<2 {
            let admitted = (0...LoadRetries.maximum).map { _ in retries.admits(failure("g-io-error-quark", 19)) }
            #expect(admitted == [true, true, true, false])
            retries.reset()
        }
    }

    @Test("do not include loads that a server, the network, a policy or another load ends")
    func others() {
        var retries = LoadRetries()
        for (domain, number) in [
            ("g-io-error-quark", 39), ("WebKitNetworkError", 302), ("WebKitPolicyError", 102), ("tls", 0),
            ("timeout", 0), ("g-resolver-error-quark", 0), ("g-tls-error-quark", 19),
        ] {
            let isAdmitted = retries.admits(failure(domain, number))
            #expect(!isAdmitted, "\(domain) \(number)")
        }
    }
}
