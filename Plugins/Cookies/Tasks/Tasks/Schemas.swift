import TaskKit

// The schemas of the tasks for `bridge.describe`. They are written by hand, because the schemas of raw tasks are not
// derived. A test compares them with the decoded types.

extension SetTask {
    static var optionsSchema: JSON? {
        Schemas.options([
            "url": Schemas.url,
            "line": Schemas.text("a Set-Cookie line, as a server or a script of the URL would set it"),
            "cookie": Schemas.newCookie, "persist": Schemas.flag("whether it outlives the session"),
            "pin": Schemas.flag("whether no container may remove it"),
        ])
    }
    static var resultSchema: JSON? { Schemas.result(["version": Schemas.version]) }
}

extension DeleteTask {
    static var optionsSchema: JSON? {
        Schemas.options([
            "key": Schemas.key, "url": Schemas.url, "domain": Schemas.domain, "name": Schemas.name,
            "all": Schemas.flag("all that the caller sees"),
            "seed": Schemas.text("those that cookies.seed has set under this name"),
        ])
    }
    static var resultSchema: JSON? { Schemas.result(["version": Schemas.version, "removed": Schemas.count]) }
}

extension GetTask {
    static var optionsSchema: JSON? {
        Schemas.options([
            "url": Schemas.url, "domain": Schemas.domain, "name": Schemas.name, "after": Schemas.version,
        ])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "version": Schemas.version, "cookies": Schemas.array(Schemas.cookie),
                "more": Schemas.flag("others follow"),
            ],
            optional: ["more"])
    }
}

extension WatchTask {
    static var optionsSchema: JSON? {
        Schemas.options(["since": Schemas.version, "stop": Schemas.flag("whether the watch ends")])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "version": Schemas.version, "changes": Schemas.array(Schemas.change),
                "more": Schemas.flag("others follow, and the watch has not begun"),
            ], optional: ["changes", "more"])
    }
}

extension HeaderTask {
    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "url": Schemas.url, "method": Schemas.text("GET by default"),
                "site": Schemas.text("the origin of the page that causes it, or opaque; the user by default"),
                "navigation": Schemas.flag("whether the answer becomes the page"),
            ], required: ["url"])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "header": Schemas.text("empty where no header is sent"),
                "headerBase64": Schemas.text("instead of it, if it is not valid UTF-8"),
                "names": Schemas.array(["type": "string"]),
            ], optional: ["header", "headerBase64"])
    }
}

extension ScriptTask {
    static var optionsSchema: JSON? { Schemas.options(["url": Schemas.url], required: ["url"]) }
    static var resultSchema: JSON? {
        Schemas.result(["script": ["type": "string"], "skipped": Schemas.array(Schemas.key)])
    }
}

extension AttachTask {
    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "replica": Schemas.text("the container's own name for its jar"), "since": Schemas.version,
                "stop": Schemas.flag("whether the attachment ends"),
            ], required: ["replica"])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "version": Schemas.version, "cookies": Schemas.array(Schemas.cookie),
                "changes": Schemas.array(Schemas.change),
                "more": Schemas.flag("others follow, and the attachment has not begun"),
            ], optional: ["cookies", "changes", "more"])
    }
}

extension ApplyTask {
    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "replica": Schemas.text("as in cookies.attach"),
                "changes": [
                    "type": "array", "maxItems": .number(JSONNumber(maximumChanges)),
                    "items": Schemas.object(
                        [
                            "change": ["type": "string", "enum": ["set", "removed"]], "cookie": Schemas.newCookie,
                            "key": Schemas.key, "base": Schemas.version,
                        ], required: ["change"]),
                ],
            ], required: ["replica", "changes"])
    }
    static var resultSchema: JSON? {
        let refusal = Schemas.result([
            "key": Schemas.key, "reason": ["type": "string"], "current": ["anyOf": [Schemas.cookie, ["type": "null"]]],
        ])
        return Schemas.result(["version": Schemas.version, "refused": Schemas.array(refusal)])
    }
}

extension TakeTask {
    static var optionsSchema: JSON? { Schemas.request }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "header": ["type": "string"], "headerBase64": ["type": "string"],
                "cookieless": Schemas.flag("whether the profile has no cookie of the URL's registrable domain"),
            ], optional: ["header", "headerBase64", "cookieless"])
    }
}

extension PutTask {
    static var optionsSchema: JSON? {
        Schemas.object(
            [
                "request": Schemas.request, "lines": Schemas.array(["type": "string"]),
                "linesBase64": Schemas.array(["type": "string"]),
                "clear": Schemas.flag("whether the cookies of the site are removed before"),
            ], required: ["request"])
    }
    static var resultSchema: JSON? {
        let refusal = Schemas.result(["line": Schemas.count, "reason": ["type": "string"]])
        return Schemas.result(["version": Schemas.version, "refused": Schemas.array(refusal)])
    }
}

/// The parts that the schemas share.
enum Schemas {
    static let version: JSON = ["type": "integer", "minimum": 0]
    static let count: JSON = ["type": "integer", "minimum": 0]
    static let seconds: JSON = ["type": "integer", "description": "seconds since 1970, UTC"]
    static let url = text("http or https")
    static let domain = text("a host: cookies of it and of the names below it")
    static let name = text("the name of the cookies")
    private static let profile = text("a set of cookies of the user: default, another name, or private:NAME in memory")
    private static let sameSite: JSON = ["type": "string", "enum": ["unset", "none", "lax", "strict"]]

    static func text(_ description: String) -> JSON { ["type": "string", "description": .string(description)] }
    static func flag(_ description: String) -> JSON { ["type": "boolean", "description": .string(description)] }
    static func array(_ items: JSON) -> JSON { ["type": "array", "items": items] }

    private static let keyMembers: JSONObject = [
        "name": text("absent if it is not valid UTF-8"), "nameBase64": text("the name, if it is not valid UTF-8"),
        "host": text("the host or domain"), "hostOnly": flag("whether it is sent to the host only"),
        "path": text("begins with /"), "partition": text("the top-level site of a Partitioned cookie"),
    ]

    private static let cookieMembers: JSONObject = {
        var members = keyMembers
        let others: JSONObject = [
            "value": text("absent for an HttpOnly cookie, unless the caller has the permission cookies.secrets"),
            "valueBase64": text("the value, if it is not valid UTF-8"), "expires": seconds, "created": seconds,
            "accessed": seconds, "secure": flag("only over secure connections"),
            "httpOnly": flag("not seen by scripts"), "sameSite": sameSite,
            "sourceSecure": flag("whether a secure connection brought it"),
            "persist": flag("whether it outlives the session"), "pin": flag("whether no container may remove it"),
            "version": version,
        ]
        for (name, schema) in others { members[name] = schema }
        return members
    }()

    static let key = object(keyMembers, required: ["host"])
    static let newCookie = object(cookieMembers, required: ["host"])
    static let cookie = object(
        cookieMembers,
        required: [
            "host", "hostOnly", "path", "created", "accessed", "secure", "httpOnly", "sameSite", "sourceSecure",
            "persist", "pin",
        ])
    static let change = result(
        [
            "change": ["type": "string", "enum": ["set", "removed"]], "cookie": cookie, "key": key,
            "cause": ["type": "string", "enum": ["deleted", "expired", "evicted"]], "version": version,
        ], optional: ["cookie", "key", "cause"])

    /// A request as the requesting plugin describes it.
    static let request = options(
        [
            "url": url, "method": text("GET by default"),
            "site": text("the origin of the page that causes it, or opaque; the user by default"),
            "topLevelSite": text("the origin of the page that the user is at"),
            "navigation": flag("whether the answer becomes the page"),
        ], required: ["url"])

    /// Returns the schema of a task's options. Each task has `profile` as its first option.
    static func options(_ properties: JSONObject, required: [String] = []) -> JSON {
        var all: JSONObject = ["profile": profile]
        for (name, schema) in properties { all[name] = schema }
        return object(all, required: required)
    }

    static func object(_ properties: JSONObject, required: [String]) -> JSON {
        [
            "type": "object", "properties": .object(properties), "required": .array(required.map { .string($0) }),
            "additionalProperties": false,
        ]
    }

    static func result(_ properties: JSONObject, optional: Set<String> = []) -> JSON {
        let required = properties.filter { !optional.contains($0.key) }.map { JSON.string($0.key) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }
}
