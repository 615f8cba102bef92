import Testing

@testable import LoginTasks

@Suite("User names")
struct UserNameTests {
    @Test(
        "Names in any script are accepted",
        arguments: ["a", "ada.lovelace@example.org", "Grace Hopper", "王小明", "é", String(repeating: "x", count: 256)])
    func accepted(name: String) {
        #expect(UserName(name)?.text == name)
    }

    @Test(
        "Empty, too long and padded names and invisible characters are refused",
        arguments: [
            "", " ", " ada", "ada ", "ada\n", "a\u{0}b", "a\u{7F}b", "a\u{85}b", "a\tb", "a\u{2028}b", "a\u{2029}b",
            "\u{3000}ada", String(repeating: "x", count: 257), String(repeating: "王", count: 86),
        ])
    func refused(name: String) {
        #expect(UserName(name) == nil)
    }

    @Test("Names are equal only if their bytes are equal")
    func comparison() {
        let composed = UserName("caf\u{E9}")
        let decomposed = UserName("cafe\u{301}")
        #expect(composed?.text == decomposed?.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(UserName("Ada") != UserName("ada"))
    }
}
