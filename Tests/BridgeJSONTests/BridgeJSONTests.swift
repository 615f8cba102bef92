// Tests of BridgeJSON.
