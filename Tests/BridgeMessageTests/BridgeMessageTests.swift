// Tests of BridgeMessage.
