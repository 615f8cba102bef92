import TaskKit
import Testing

@testable import LoginTasks

@Suite("Tokens")
struct TokenTests {
    @Test("A token is 32 bytes in base64url, and its text yields its hash")
    func roundTrip() {
        let token = Token()
        #expect(token.text.utf8.count == 43)
        #expect(token.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        #expect(Token.hash(of: Secret(token.text)) == token.hash)
        #expect(token.hash.bytes.count == 32)
    }

    @Test("Tokens are distinct")
    func distinct() {
        let tokens = (0..<100).map { _ in Token() }
        #expect(Set(tokens.map(\.text)).count == 100)
        #expect(Set(tokens.map(\.hash)).count == 100)
    }

    @Test("A malformed token has no hash")
    func shapes() {
        let text = Token().text
        let wrong = [
            "", "x", String(text.dropLast()), text + "A", text + "=", " " + text, text + "\n",
            String(text.dropLast()) + "\u{0}", String(text.dropLast()) + "+", String(repeating: "A", count: 4096),
        ]
        for text in wrong { #expect(Token.hash(of: Secret(text)) == nil, "\(text.count) characters") }
    }

    @Test("A token with one character changed is another token")
    func mutated() {
        let text = Token().text
        let hash = Token.hash(of: Secret(text))
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(Token.hash(of: Secret(changed)) != hash)
        }
    }

    @Test("A session's login is handed over to the next daemon, which checks it")
    func handover() throws {
        let (old, new) = (SessionTokens(), SessionTokens())
        let (user, token) = (try #require(UserName("ada")), Token())
        let grant = Grant(user: user, token: token.text, tokenHash: token.hash, expiresAt: WallTime(milliseconds: 9))
        _ = old.note(grant, of: 4)
        let kept = old.kept(of: [3, 4])
        #expect(Set(kept.keys) == [4])
        #expect(new.restore(kept) == [])
        #expect(new[4]?.user == user && new[4]?.token == token.hash && new[4]?.expiresAt.milliseconds == 9)
        var broken = kept
        broken[4]?.token.removeLast()
        #expect(SessionTokens().restore(broken) == [4])
        broken = kept
        broken[4]?.user = "\n"
        #expect(SessionTokens().restore(broken) == [4])
    }
}
