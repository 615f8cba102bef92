// The library as a plain script: the page's bridge, and beside it what a module exports.

import { Bridge } from "./bridge.js";
import { connect } from "./connect.js";
import { BridgeError } from "./errors.js";
import { sharedBridge } from "./shared.js";
import { stream } from "./streamValues.js";

sharedBridge();
globalThis.TrestleBridge = { Bridge, BridgeError, connect, stream };
