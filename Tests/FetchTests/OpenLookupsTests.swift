import Testing

@testable import FetchTasks

@Suite("Lookups of names that nobody waits for any more")
struct OpenLookupsTests {
    @Test("are so many at most, until the resolver has given up")
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
