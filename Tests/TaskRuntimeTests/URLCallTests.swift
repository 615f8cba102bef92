import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("URLs as calls")
struct URLCallTests {
    let bench = dialectBench()

    func options(_ url: String) -> JSON? {
        let client = bench.client()
        client.send(JSON.object(["url": .string(url), "callbackId": 1]).text)
        return client.readOne()?["result"]
    }

    @Test(
        "Host and path name the task, the query its options",
        arguments: [
            ("jxaction://echo", [:]), ("JXAction://echo/", [:]), ("jxaction:echo?a", ["a": ""]),
            ("jxaction://camera/scan?a=b=c&d=&e", ["a": "b=c", "d": "", "e": ""]),
            ("jxaction://camera//scan/?a+b=c+d%2B&%C3%A4=%22#a=2", ["a b": "c d+", "ä": "\""]),
            ("jxaction://%65cho?&&a=1&", ["a": "1"]),
            (
                "jxaction://echo?ab=%22&acb=\\&aab=%5C%22&b=&bb=2&ba=3",
                [
                    "ab": "\"", "acb": "\\", "aab": "\\\"", "b": "", "bb": "2", "ba": "3",
                ]
            ),
        ] as [(String, JSON)])
    func good(url: String, expected: JSON) { #expect(options(url) == expected) }

    @Test(
        "An invalid URL is refused with message.invalid",
        arguments: [
            "https://echo", "echo", "", "jxaction://", "jxaction:///", "jxaction://echo?a=%", "jxaction://echo?a=%f",
            "jxaction://echo?a=%zz", "jxaction://echo?a=%ff", "jxaction://echo?a=1&a=2",
            "jxaction://echo?a=%22&b=%5C&c=3&b=4", "jxaction://echo?=&=", "jxaction://%g",
        ])
    func bad(url: String) {
        let client = bench.client()
        client.send(JSON.object(["url": .string(url), "callbackId": 1]).text)
        let refusal = client.readOne()
        #expect(refusal?.errorCode == "message.invalid")
        #expect(refusal?["callbackId"] == 1)
    }

    @Test("The URL schemes of calls can change while clients are connected")
    func schemes() {
        bench.decoder.urlSchemes = []
        #expect(options("jxaction://echo") == nil)
        bench.decoder.urlSchemes = ["other"]
        #expect(options("other://echo") == [:])
    }
}
