/// The calls of other bridges that pages can use besides `WebBridge`.
public enum PageDialect: String, Sendable, CaseIterable {
    /// `webkit.messageHandlers.NAME`.
    case messageHandlers
    /// WebViewJavascriptBridge.
    case webViewJavascriptBridge
    /// The interface that Capacitor's `native-bridge.js` needs.
    case capacitor
    /// `cordova.exec`, as on iOS.
    case cordova
    /// Links that are calls, and answers that name a function of the page.
    case url
}

/// An object or a function that pages access by a global name.
public struct PageExport: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The task that it calls; `nil` if it is not a function.
    public var task: String?
    /// Its methods and the tasks that they call, in their order.
    public var methods: [Method]

    /// A method of an object.
    public struct Method: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The task that it calls.
        public var task: String
    }

    /// Whether a text is accepted as a JavaScript name.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
                    true
                default: false
                }
            }
    }
}
