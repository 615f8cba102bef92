import Testing

@testable import trestled

@Suite("Durations and sizes as text")
struct ConfigurationQuantityTests {
    @Test(
        "A duration is a whole number and a unit",
        arguments: [
            ("0s", Duration.zero), ("250ms", .milliseconds(250)), ("5s", .seconds(5)), ("2m", .seconds(120)),
            ("1h", .seconds(3_600)), ("0090s", .seconds(90)),
        ])
    func durations(text: String, duration: Duration) {
        #expect(Quantity.duration(text) == duration)
    }

    @Test(
        "Anything else is none",
        arguments: ["", "5", "s", "-5s", "+5s", "1.5s", "5 s", "5S", "5sec", "٥s", "9999999999999999999s", "5s "])
    func noDurations(text: String) {
        #expect(Quantity.duration(text) == nil)
    }

    @Test(
        "A size is a whole number and a binary unit",
        arguments: [("0B", 0), ("512B", 512), ("64KiB", 65_536), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648)])
    func sizes(text: String, bytes: Int) {
        #expect(Quantity.bytes(text) == bytes)
    }

    @Test(
        "Decimal units and overflows are no sizes", arguments: ["1MB", "1", "KiB", "-1KiB", "9223372036854775807GiB"])
    func noSizes(text: String) {
        #expect(Quantity.bytes(text) == nil)
    }

    @Test("What is written reads as the same, in the largest unit that fits")
    func roundTrip() {
        for milliseconds in [0, 1, 999, 1_000, 1_500, 60_000, 61_000, 3_600_000, 86_400_000] {
            let duration = Duration.milliseconds(milliseconds)
            #expect(Quantity.duration(Quantity.text(duration)) == duration)
        }
        for bytes in [0, 1, 1_023, 1_024, 1_025, 1 << 20, 3 << 20, 1 << 30] {
            #expect(Quantity.bytes(Quantity.text(bytes: bytes)) == bytes)
        }
        #expect(Quantity.text(.milliseconds(120_000)) == "2m")
        #expect(Quantity.text(bytes: 1_536) == "1536B")
    }
}

@Suite("Suggestions")
struct ConfigurationSuggestionTests {
    @Test(
        "The distance counts letters added, left out, replaced, and neighbours exchanged",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("socket", "socket", 0), ("socket", "sokcet", 1),
            ("limit", "limits", 1), ("kitten", "sitting", 3), ("ab", "ba", 1),
        ])
    func distance(from: String, to: String, edits: Int) {
        #expect(Suggestion.distance(Array(from), Array(to)) == edits)
    }

    @Test("The nearest name is suggested, and none where all are far")
    func nearest() {
        let names = ["socket", "socket_mode", "state_dir"]
        #expect(Suggestion.nearest(to: "socke", among: names) == "socket")
        #expect(Suggestion.nearest(to: "SOCKET-MODE", among: names) == "socket_mode")
        #expect(Suggestion.nearest(to: "stat", among: names) == "state_dir")
        #expect(Suggestion.nearest(to: "so", among: names) == nil)
        #expect(Suggestion.nearest(to: "colour", among: names) == nil)
        #expect(Suggestion.nearest(to: "x", among: ["y"]) == nil)
        #expect(Suggestion.nearest(to: "", among: names) == nil)
        #expect(Suggestion.nearest(to: "socket", among: []) == nil)
    }
}
