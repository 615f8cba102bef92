import Testing

@testable import FetchTasks

@Suite("Abandoned name lookups")
struct OpenLookupsTests {
    @Test("are limited in number until the resolver's time is over")
    func bounded() {
        let lookups = OpenLookups()
        let start = ContinuousClock.now
        for number in 0..<OpenLookups.maximum {
            #expect(lookups.hasRoom(at: start))
            lookups.add(at: start + .milliseconds(number))
        }
        #expect(!lookups.hasRoom(at: start + .seconds(1)))
        #expect(!lookups.hasRoom(at: start + OpenLookups.lifetime - .nanoseconds(1)))
        #expect(lookups.hasRoom(at: start + OpenLookups.lifetime))
        lookups.add(at: start + OpenLookups.lifetime)
        #expect(!lookups.hasRoom(at: start + OpenLookups.lifetime))
    }
}
