/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_plugin.h: the binary interface between the Trestle daemon and a task plugin.
 *
 * A plugin is a shared library that exports the function `trestle_plugin_entry`. The daemon calls it once and reads the
 * returned table. From then on each side calls the other through one of two tables: the plugin's (`trestle_plugin`) and
 * the daemon's (`trestle_host`). Any language with the C calling convention can be used. `TaskKit` fills these tables
 * for plugins in Swift.
 *
 * This file contains the rules and the plugin's table. It includes trestle/values.h (versions, bytes, callers,
 * requests, errors), trestle/messages.h (calls, events, metrics and log lines that a plugin sends), trestle/streams.h
 * and trestle/host.h (the daemon's table).
 *
 * Rules for all these files
 *
 *   Places     A plugin is loaded either by the daemon or by a process that the daemon starts for the plugin
 *              (`trestle-plugin-host`). Unless stated otherwise, "the daemon" below means the process that has loaded
 *              the plugin.
 *   Versions   Every struct begins with `size` (its size in bytes, as compiled by the side that fills it) and `abi`.
 *              New fields are only added at the end. A reader checks `size` before it reads a field that its own
 *              version of this header added. The daemon refuses a plugin with a different `abi`; the error states both.
 *   Threads    The daemon calls the plugin on one thread, the loop thread. These calls never run in parallel, but one
 *              may be nested inside another: see Re-entry. Host functions marked ANY THREAD may be called on any
 *              thread. Those marked LOOP THREAD may only be called from inside a call of the daemon into the plugin, or
 *              from a function that was passed to `post`.
 *   Re-entry   Inside any call from the daemon, the plugin may call every host function. On the loop thread, `reply`,
 *              `fail`, `call` and `cancel` may call this plugin again before they return (the next waiting call, a
 *              `cancel`, a `done`), and other plugins too. Therefore hold no lock while you call them, and make the
 *              plugin's state consistent first. The `done` of a stream function is never called inside another call.
 *   Order      Answers, progress, events and log lines take effect in the order in which the plugin sends them, on all
 *              threads: no message overtakes one that its sender knows to have been sent. For example, progress that a
 *              thread has sent takes effect before the answer that the loop thread sends after that thread has
 *              finished.
 *   Memory     Bytes that one side passes to the other are borrowed until the function returns. Copy bytes that you
 *              need later. A request's options, and the results and progress of the plugin's own calls, are readable
 *              (with undefined content) for TRESTLE_PADDING bytes past their end, so that vector code may read ahead.
 *              Strings are UTF-8 without a terminating zero.
 *   JSON       A field that is described as JSON contains one complete value as defined by RFC 8259. The daemon has
 *              checked the JSON that it passes to the plugin, and checks the JSON that the plugin passes to it.
 *   Handles    A `trestle_call` is a number, never a pointer. The daemon recognises the handle of a call that has
 *              ended. A late or second reply is therefore harmless: it is dropped, counted and logged.
 *   Errors     Only `watch`, `timer` and `metric` return an error. Other mistakes of the plugin are reported where
 *              possible. A result that is not JSON ends its call with `reply.invalid`. Invalid progress, an invalid
 *              event and an invalid metric are dropped and logged. A call that is never answered ends at its deadline,
 *              but its work counts as running. A crash ends the process; in the daemon's own process, it ends the
 *              daemon.
 *   Output     Standard output and standard error belong to the daemon. In a process of the plugin's own they are
 *              written to the log, line by line. Prefer `log`.
 *
 * `trestle plugin check` checks whether a library follows all these rules.
 */
#ifndef TRESTLE_PLUGIN_H
#define TRESTLE_PLUGIN_H

#include "trestle/host.h"
#include "trestle/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason why the daemon asks a plugin to stop working on a call. The caller has already received its answer. A
 * plugin in a process of its own always gets CALLER. */
enum {
    TRESTLE_CANCEL_CALLER = 0,   /* The caller or an operator cancelled the call. */
    TRESTLE_CANCEL_TIMEOUT = 1,  /* Its deadline passed. */
    TRESTLE_CANCEL_GONE = 2,     /* The caller has disconnected. */
    TRESTLE_CANCEL_SHUTDOWN = 3, /* The daemon is stopping. */
};

/* The changes of a session. */
enum {
    TRESTLE_SESSION_OPENED = 0,     /* It connected; calls may follow. */
    TRESTLE_SESSION_CLOSED = 1,     /* It has ended: no call of it follows, and state kept for it can be freed. */
    TRESTLE_SESSION_BACKGROUND = 2, /* Its page or program is not visible to the user. */
    TRESTLE_SESSION_FOREGROUND = 3, /* It is visible again. */
};

/* The changes of sessions for which the function `session` is called. */
enum {
    TRESTLE_SESSIONS_ALL = 0,     /* All changes of all sessions. */
    TRESTLE_SESSIONS_CALLERS = 1, /* Only CLOSED, of sessions that have called the plugin, or whose state it has
                                     restored. It may also be called for other sessions. */
};

/* The table of functions that a plugin provides to the daemon. It must be valid until the process ends: a plugin's
 * library is never unloaded.
 *
 * The order of calls: `attach` once; `configure`; `start`; `launch` for each launch worker; then `call`, `intercept`,
 * `cancel`, `session` and `reconfigure` in any order; finally `stop`. If sessions continue from one daemon to the next,
 * `restore_sessions` is called between the launch workers and the first call, and `save_sessions` before `stop`.
 * `manifest`, `attach` and `call` are required; every other function may be NULL.
 */
typedef struct trestle_plugin {
    uint32_t size; /* sizeof(trestle_plugin) */
    uint32_t abi;  /* TRESTLE_ABI */
    void *context; /* The plugin's own pointer, passed to each of its functions. May be NULL. */

    /* JSON, see docs/plugins.md:
       {"name", "version", "tasks": [{"name", "summary", "permission"?, "public"?, "optionPermissions"?: {OPTION: verb},
        "timeout"?: ms or null, "concurrency"?, "private"?, "optionBytes"?, "options"?: JSON Schema, "result"?: JSON
        Schema, "progress"?: JSON Schema}], "events"?: [{"name", "summary", "public"?}],
        "launchWorkers"?: [{"name", "phase", "after"?: [names], "required"?}],
        "interceptors"?: [{"name", "summary", "tasks": [patterns], "onFailure"?}], "configuration"?: JSON Schema,
        "reloadable"?, "error"?}
       "name" of a task: 1 to 128 of the characters A-Z, a-z, 0-9 and . _ / : -. It must not begin with "bridge.",
       "plugin." or "rpc.", which are reserved for the daemon; the daemon refuses a plugin with such a task. "name" of
       an event: the same characters.
       "public": true: members of the group "trestle" may call the task, or receive the event, if no rule of
       docs/policy.md matches.
       "optionPermissions": options that not every caller may set to every name, each with a verb of the policy. Before
       the daemon calls `call`, it checks the verb for the name: "store" for a namespace, "UID:ORIGIN"; "reach" for a
       web origin, "https://api.example".
       "options": before the daemon calls `call`, it checks the call's options against this schema; docs/protocol.md
       specifies which keywords it checks. "timeout": absent means the daemon's default, null means none. "phase":
       "beforeListening" or "afterListening".
       "name" of the plugin: letters a-z and A-Z, digits, - and _, beginning with a letter, at most 64 bytes. Names of
       launch workers and interceptors: such words joined by dots, at most 128 bytes. They must not begin with "bridge."
       or "rpc.", which are reserved for the daemon. Two names of the same kind must differ.
       "tasks" of an interceptor: names of tasks, or prefixes of names followed by *; see `intercept`.
       "onFailure": how a call continues when the interceptor fails: with "refuse" (the default) it ends with that
       failure; with "pass" it continues without the interceptor.
       "configuration": the schema of an object. The "description" and "default" of its properties are shown to
       operators.
       "reloadable": true: a new section takes effect through `reconfigure`; otherwise it requires a restart.
       "error": the plugin cannot be used, and this sentence is the reason. The daemon refuses the plugin with that
       sentence and calls none of the functions below. */
    trestle_bytes manifest;

    /* Receives the daemon's table before any other call. Only store the pointer, which is valid until the process
       ends. */
    void (*attach)(void *context, const trestle_host *host);
    /* Check and store the configuration, and do nothing else: a mere check of the configuration ends after this call.
       `options` is the plugin's own section of the configuration; {} if there is none. Answer with `reply` {} or with
       `fail`, code "configuration.invalid", data {"path", "expected"?, "got"?, "known"?: [keys]}. */
    void (*configure)(void *context, const trestle_request *request);
    /* Prepare for calls. `options` is {"stateDirectory", "launch": {"arguments"}}. The answer may come later, within
       60 seconds. It is {}, as for `configure`, or {"interceptors": {"NAME": [patterns]}} with the tasks
       of the named interceptors, which replace those of the manifest. After `fail` the plugin is not used; the log and
       bridge.plugins state the reason. */
    void (*start)(void *context, const trestle_request *request);
    /* Run the launch worker `number`; `options` is as in `start`. The answer may come later, within 60 seconds. `fail`
       is logged; if the worker is "required", the daemon then does not start, or does not accept the plugin that it
       loads. */
    void (*launch)(void *context, const trestle_request *request);
    /* Perform a call of the task `number`. Must not block: the loop thread serves all callers. Answer with `reply` or
       `fail`, now or later, once. If the manifest has a schema of the options, they have been checked. If it has none,
       or `describe` returns it, check them here and fail with "options.invalid", data {"path", "expected", "got"}. */
    void (*call)(void *context, const trestle_request *request);
    /* Stop working on a call; `reason` is TRESTLE_CANCEL_…. Still answer the call when the work has ended: the answer
       is dropped, but until then the work counts as running. NULL if the plugin answers every call soon enough. */
    void (*cancel)(void *context, trestle_call call, uint32_t reason);
    /* A session has changed; `change` is TRESTLE_SESSION_…, and other values may be added. No answer is expected.
       `session_scope` limits the changes. */
    void (*session)(void *context, uint32_t change, const trestle_caller *session);
    /* Finish the work: no call will follow. Answer with `reply` {} when done. After the deadline (the daemon's
       stop_timeout, 5 seconds) the daemon continues without the answer. It also continues after `fail`, which it logs.
       Messages that the plugin's threads send after that are dropped. */
    void (*stop)(void *context, const trestle_request *request);

    /* Another daemon will replace this one and continue its sessions. No call is in flight, and `stop` follows.
       `options` is {"sessions": [numbers]}. Answer {"states": {"NUMBER": any JSON}} with the state that the plugin of
       the same name needs in the other daemon; omit sessions without state. After `fail` the function is called again
       with fewer sessions, finally with single ones; a session for which it fails is closed. If only this plugin is
       reloaded, such a session continues without that state. */
    void (*save_sessions)(void *context, const trestle_request *request);
    /* Sessions of the previous daemon continue here. Each has already been reported as OPENED; calls follow only after
       the answer. `options` is the answer to `save_sessions`, possibly from another version of the plugin. The function
       is called several times, each time with a part of the sessions. Answer {"lost": [numbers]} with the sessions that
       cannot continue: the daemon closes them with a reason. `fail` means that none of these sessions can continue; if
       only the plugin is reloaded, the previous version stays. */
    void (*restore_sessions)(void *context, const trestle_request *request);
    /* The daemon has read its configuration again while the plugin runs. `options` and the answer are as in
       `configure`; `number` is TRESTLE_RECONFIGURE_…. For TRESTLE_RECONFIGURE_TAKE the answer may also be as in
       `start`. A plugin that refuses keeps the previous section. NULL: a new section is read only when the daemon
       starts again. */
    void (*reconfigure)(void *context, const trestle_request *request);
    /* Provide the parts that the manifest omits. Called when they are first needed, at any time after `attach`, and
       again after a failure. `options` is {}. Answer {"tasks"?: [{"options"?, "result"?, "progress"?}],
       "configuration"?, "errors"?: [sentences]}: JSON Schemas, one object for each task of the manifest, in its order.
       Each sentence of "errors" names a missing schema and the reason. NULL if the manifest is complete. */
    void (*describe)(void *context, const trestle_request *request);
    /* Decide about a call of a task before the task receives it, for the interceptor `number`. `options` is
       {"interceptor": its name, "task": the task's name, "session"?: the session whose task is called, "oneWay"?: true
       if no caller waits for the answer, "options": the options of the call as they arrived, not checked yet}. `caller`
       is the caller of that call, `time_remaining_ns` is its remaining time, and `call` is the handle of this question.
       A call with this handle as `parent` is made on behalf of the caller and is not shown to this interceptor.
       `cancel` means that the call has ended; `report_progress` sends progress to its caller. The answer may come
       later. It is one of
         {"pass": true}                   the call continues unchanged: to the next interceptor, or to the task;
         {"options": JSON}                the same, with these options;
         {"task": name, "options"?: JSON} the same, as a call of that task, which its caller must be allowed to call;
         {"result": JSON}                 the call ends with this result;
         {"error": {"code", "message", "data"?, "transient"?, "retryAfter"?: ms}}  the call ends with this error.
       An error through `fail` is a refusal too, except "internal", "task.not_found" and codes that begin with
       "plugin.": these, and any other answer, are a failure of the interceptor. NULL if the manifest lists no
       interceptors. */
    void (*intercept)(void *context, const trestle_request *request);
    /* TRESTLE_SESSIONS_…. With CALLERS, a plugin in a process of its own is not woken for the sessions of others. */
    uint32_t session_scope;
} trestle_plugin;

/* The modes of `reconfigure`. */
enum {
    TRESTLE_RECONFIGURE_CHECK = 0, /* Check the section, and change nothing. */
    TRESTLE_RECONFIGURE_TAKE = 1,  /* Use it from now on. Only if the manifest specifies "reloadable". */
};

/* The symbol that every plugin exports. Called once, on the loop thread. Returns NULL if the plugin cannot be used. */
#define TRESTLE_PLUGIN_ENTRY "trestle_plugin_entry"
const trestle_plugin *trestle_plugin_entry(void);

/* A plugin that also exports this symbol runs in a process of its own, unless its section in the daemon's configuration
   states otherwise. It is meant for code that reads untrusted data or links large libraries. Never called: the daemon
   looks for the symbol before it loads the library. */
#define TRESTLE_PLUGIN_WANTS_PROCESS "trestle_plugin_wants_process"
void trestle_plugin_wants_process(void);

#ifdef __cplusplus
}
#endif

#endif
