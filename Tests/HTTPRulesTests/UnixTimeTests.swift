import HTTPRules
import Testing

@Suite struct UnixTimeTests {
    @Test("An earlier moment is less") func order() { #expect(UnixTime(seconds: -1) < UnixTime(seconds: 0)) }
}
