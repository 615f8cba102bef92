extension DialectID {
    /// The translator; nil for the native dialect, which needs none.
    var translator: (any Dialect)? {
        switch self {
        case .native: nil
        case .webViewJavascriptBridge: WebViewJavascriptBridgeDialect()
        case .jsonRPC: JSONRPCDialect()
        case .url: URLDialect()
        case .functionCall: FunctionCallDialect()
        case .capacitor: CapacitorDialect()
        }
    }
}
