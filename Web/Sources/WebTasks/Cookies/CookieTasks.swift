internal import BridgeClient
internal import BridgeJSON
internal import WebContainer
internal import WebKitViews

struct CookieOptions: Codable, Sendable {
    var cookie: JSON
}

struct CookieKeyOptions: Codable, Sendable {
    var key: JSON
}

extension ControlPlane {
    func provideCookies() async throws(BridgeError) {
        try await provide("web.cookies.get", "Lists the engine's cookies.") { (plane, _: NoOptions, call) in
            try plane.admit(call)
            await plane.replica?.settle()
            let cookies = await plane.container.cookies.all().values
            return ["cookies": .array(cookies.map(\.json))] as JSON
        }
        try await provide("web.cookies.set", "Sets a cookie of the engine.") {
            (plane, options: CookieOptions, call) in
            try plane.admit(call)
            guard let cookie = WebCookie(options.cookie) else {
                throw BridgeError(
                    .optionsInvalid, "a cookie has name, value and host, texts, and no partition",
                    data: ["path": "$.cookie"])
            }
            await plane.container.cookies.change(set: [cookie], removed: [])
            return [:] as JSON
        }
        try await provide("web.cookies.delete", "Removes a cookie of the engine.") {
            (plane, options: CookieKeyOptions, call) in
            try plane.admit(call)
            guard let key = WebCookie.Key(options.key) else {
                throw BridgeError(
                    .optionsInvalid, "a key has name and host, texts, and no partition", data: ["path": "$.key"])
            }
            let jar = plane.container.cookies
            guard let cookie = await jar.all()[key] else {
                throw BridgeError("cookie.not_found", "the engine has no such cookie")
            }
            await jar.change(set: [], removed: [cookie])
            return [:] as JSON
        }
        try await provide("web.cookies.clear", "Removes all cookies of the engine.") {
            (plane, _: NoOptions, call) in
            try plane.admit(call)
            let jar = plane.container.cookies
            await jar.change(set: [], removed: Array(await jar.all().values))
            return [:] as JSON
        }
    }
}
