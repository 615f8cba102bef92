import ArgumentParser
import BridgeJSON

/// The choice of a cookie profile.
struct CookieProfile: ParsableArguments {
    @Option(help: ArgumentHelp("The profile; without it: default.", valueName: "name"))
    var profile: String?

    var options: JSONObject {
        var options = JSONObject()
        options["profile"] = profile.map(JSON.string)
        return options
    }
}

/// The choice of cookies in a profile.
struct CookieChoice: ParsableArguments {
    @OptionGroup var profile: CookieProfile

    @Option(help: ArgumentHelp("Only the cookies that are sent to this URL.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Only the cookies of this domain and the names below it.", valueName: "host"))
    var domain: String?

    @Option(help: ArgumentHelp("Only the cookies of this name.", valueName: "name"))
    var name: String?

    func validate() throws {
        if url != nil, domain != nil { throw ValidationError("--url and --domain exclude each other") }
    }

    var options: JSONObject {
        var options = profile.options
        options["url"] = url.map(JSON.string)
        options["domain"] = domain.map(JSON.string)
        options["name"] = name.map(JSON.string)
        return options
    }
}

/// The formats of cookie files.
enum CookieFileFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case netscape
    case json
    case webkit
}
