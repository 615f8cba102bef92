// Tests of the CloseWeb plugin.
