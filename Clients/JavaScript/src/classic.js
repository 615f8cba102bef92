// The library as a plain script. It defines the page's bridge, and an object with the exports of the module.

import { Bridge } from "./bridge.js";
import { connect } from "./connect.js";
import { BridgeError } from "./errors.js";
import { sharedBridge } from "./shared.js";
import { stream } from "./streamValues.js";

sharedBridge();
globalThis.TrestleBridge = { Bridge, BridgeError, connect, stream };
