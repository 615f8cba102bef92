extension PluginParts {
    /// Returns the answer to `describe`, as `trestle_plugin.h` defines it.
    func description() -> JSON {
        let (tasks, configuration, defects) = schemas()
        var description: JSONObject = ["tasks": .array(tasks.map(JSON.object))]
        description["configuration"] = configuration
        if !defects.isEmpty { description["errors"] = .array(defects.map(JSON.string)) }
        return .object(description)
    }

    /// Returns the manifest, as `trestle_plugin.h` defines it. If there are defects, it contains them instead of the
    /// tasks.
    func manifest() -> JSON {
        var manifest: JSONObject = ["name": .string(name), "version": .string(version)]
        let defects = defects()
        if !defects.isEmpty {
            manifest["tasks"] = []
            manifest["error"] = .string(PluginDefects(plugin: name, sentences: defects).description)
            return .object(manifest)
        }
        manifest["tasks"] = .array(tasks.map(\.description))
        if !events.isEmpty {
            manifest["events"] = .array(events.map(\.description))
        }
        if !launchWorkers.isEmpty { manifest["launchWorkers"] = .array(launchWorkers.map(\.description)) }
        if !interceptors.isEmpty { manifest["interceptors"] = .array(interceptors.map(\.description)) }
        if configurations.first?.isReloadable == true { manifest["reloadable"] = true }
        return .object(manifest)
    }
}

extension AnyTask {
    fileprivate var description: JSON {
        var task: JSONObject = ["name": .string(name), "summary": .string(summary)]
        task["permission"] = settings.permission.map { .string($0) }
        if let timeout = settings.timeout.duration {
            task["timeout"] = .number(JSONNumber(timeout.clampedMilliseconds))
        } else if settings.timeout == .unlimited {
            task["timeout"] = .null
        }
        task["concurrency"] = settings.concurrency.map { .number(JSONNumber($0)) }
        // Always included: without it, the limit would depend on where the plugin runs.
        task["optionBytes"] = .number(JSONNumber(settings.optionBytes ?? TaskSettings.usualOptionBytes))
        if settings.isPrivate { task["private"] = true }
        if settings.isPublic { task["public"] = true }
        if !settings.optionPermissions.isEmpty {
            var verbs = JSONObject()
            for (option, verb) in settings.optionPermissions.sorted(by: { $0.key < $1.key }) {
                verbs[option] = .string(verb.rawValue)
            }
            task["optionPermissions"] = .object(verbs)
        }
        // The daemon checks options against the schema in the manifest.
        if !checksOptions { task["options"] = (try? optionsSchema()) ?? nil }
        return .object(task)
    }
}

extension EventDescription {
    fileprivate var description: JSON {
        var event: JSONObject = ["name": .string(name), "summary": .string(summary)]
        if isPublic { event["public"] = true }
        return .object(event)
    }
}

extension LaunchWorker {
    fileprivate var description: JSON {
        var worker: JSONObject = ["name": .string(name), "phase": .string(phase.rawValue)]
        if !after.isEmpty { worker["after"] = .array(after.map { .string($0) }) }
        worker["required"] = .bool(isRequired)
        return .object(worker)
    }
}
